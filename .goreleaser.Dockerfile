# The image of a release: the static program on nothing, with the authorities that the
# rest of the world trusts, which sources are fetched with. goreleaser builds it.
FROM docker.io/library/alpine:3.22 AS authorities

FROM scratch
ARG TARGETPLATFORM
COPY --from=authorities /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY ${TARGETPLATFORM}/berth /berth
USER 65532:65532
ENTRYPOINT ["/berth"]
