package judge

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func pullError(said string) string {
	return fmt.Sprintf("Failed to pull image %q: rpc error: code = Unknown desc = %s", "x/app:1", said)
}

// What is known to pass waits for the grace period under patient; what is not
// fails at once under both; fast waits for nothing.
func TestPullErrors(t *testing.T) {
	for _, test := range []struct {
		said   string
		code   string
		passes bool
	}{
		{
			"unexpected status from HEAD request to https://r/v2/x/app/manifests/1: 429 Too Many Requests",
			cause.RegistryRateLimited, true,
		},
		{"toomanyrequests: You have reached your pull rate limit", cause.RegistryRateLimited, true},
		{
			"unexpected status from HEAD request to https://r/v2/: 500 Internal Server Error",
			cause.RegistryUnreachable,
			true,
		},
		{"unexpected status code https://r/v2/: 502 Bad Gateway", cause.RegistryUnreachable, true},
		{
			"unexpected status from HEAD request to https://r/v2/: 503 Service Unavailable", cause.RegistryUnreachable,
			true,
		},
		{"unexpected status from HEAD request to https://r/v2/: 521 <none>", cause.RegistryUnreachable, true},
		{
			`failed to do request: Head "https://r/v2/": dial tcp 10.0.0.9:443: connect: connection refused`,
			cause.RegistryUnreachable, true,
		},
		{
			`failed to do request: Head "https://r/v2/": dial tcp 10.0.0.9:443: i/o timeout`, cause.RegistryUnreachable,
			true,
		},
		{
			`failed to do request: Head "https://r/v2/": net/http: TLS handshake timeout`, cause.RegistryUnreachable,
			true,
		},
		{"context deadline exceeded", cause.RegistryUnreachable, true},
		{
			`dial tcp: lookup r on 10.0.0.10:53: read udp 10.0.0.1:4->10.0.0.10:53: i/o timeout`,
			cause.RegistryUnreachable,
			true,
		},
		{`dial tcp: lookup r on 10.0.0.10:53: server misbehaving`, cause.RegistryUnreachable, true},
		{"pull QPS exceeded", cause.ImagePullFailed, true},
		{`dial tcp: lookup r on 10.0.0.10:53: no such host`, cause.RegistryUnreachable, false},
		{
			"tls: failed to verify certificate: x509: certificate signed by unknown authority", cause.RegistryUntrusted,
			false,
		},
		{"x/app:1: not found", cause.ImageNotFound, false},
		{"pull access denied, repository does not exist", cause.ImagePullDenied, false},
		{"unexpected status from HEAD request to https://r/v2/: 401 Unauthorized", cause.ImagePullDenied, false},
		{"no match for platform in manifest", cause.ImageWrongPlatform, false},
		{
			"no match for platform in manifest: no matching manifest for windows/amd64 10.0.20348", cause.OSMismatch,
			false,
		},
		{
			"unexpected status from HEAD request to https://r/v2/x/app/manifests/1: 412 Precondition Failed",
			cause.ImageBlocked, false,
		},
		{"denied: the artifact is in quarantine", cause.ImageBlocked, false},
		{"unexpected media type text/html; charset=utf-8 for sha256:1: not found", cause.NotARegistry, false},
		{
			"failed to fetch oauth token: invalid character '<' looking for beginning of value", cause.NotARegistry,
			false,
		},
		{`proxyconnect tcp: dial tcp: lookup proxy.example.com: no such host`, cause.RegistryUnreachable, false},
		{
			"error parsing HTTP 403 response body: invalid character '<' looking for beginning of value",
			cause.ImagePullDenied, false,
		},
		{
			"error parsing HTTP 500 response body: invalid character '<' looking for beginning of value",
			cause.RegistryUnreachable, true,
		},
		{"unexpected status: 502 Bad Gateway: <html><body>upstream</body></html>", cause.RegistryUnreachable, true},
		{`Head "https://r/v2/": proxyconnect tcp: Proxy Authentication Required`, cause.RegistryUnreachable, false},
		{"http: server gave HTTP response to HTTPS client", cause.RegistryPlainHTTP, false},
		{"failed to extract layer sha256:1: write /usr/lib/x: no space left on device", cause.NodeDiskFull, true},
		{
			`short-name "app" did not resolve to an alias and no unqualified-search registries are defined`,
			cause.ImageShortName,
			false,
		},
		{"Source image rejected: A signature was required, but no signature exists", cause.ImageUnsigned, false},
		{`media type "application/vnd.docker.distribution.manifest.v1+prettyjws" is no longer supported ` +
			`since containerd v2.1`, cause.ImageUnsupported, false},
		{"who knows", cause.ImagePullFailed, false},
	} {
		t.Run(test.said, func(t *testing.T) {
			pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), warning("app", "Failed", pullError(test.said)))
			compare(t, Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Second)).Failed, test.code)
			got := Pod(pod, patient(), watchtest.After(time.Second))
			if !test.passes {
				compare(t, got.Failed, test.code)
				return
			}
			if got.Failed != nil || len(got.Graced) != 1 || !got.Next.Equal(watchtest.After(time.Minute)) {
				t.Fatalf("patient: %+v", got)
			}
			compare(t, &got.Graced[0], test.code+": (may pass: waiting up to 1m)")
		})
	}
}

// Where nothing but the echo of a failed pull is left, that is the cause.
func TestEchoOfAFailedPull(t *testing.T) {
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), warning("app", "Failed", "Error: ImagePullBackOff"))
	compare(t, Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Second)).Failed, cause.ImagePullFailed)
}

// An image that will never come fails at once under both policies.
func TestPermanentImageCauses(t *testing.T) {
	for code, wait := range map[string]func(*corev1.ContainerStatus){
		cause.BadImageName:    watchtest.Waits("InvalidImageName", `couldn't parse image name "X:1"`),
		cause.ImageNotPresent: watchtest.Waits("ErrImageNeverPull", ""),
		cause.ImageNotFound: watchtest.Waits("ImagePullBackOff",
			`Back-off pulling image "x/app:1": ErrImagePull: x/app:1: not found`),
		cause.ImagePullDenied: watchtest.Waits("ErrImagePull", "pull access denied"),
		cause.ImageUnsigned:   watchtest.Waits("SignatureValidationFailed", "no signature"),
	} {
		for _, p := range []cause.Policy{cause.DefaultPolicy(), patient()} {
			compare(t, Pod(appThat(wait), p, watchtest.Epoch).Failed, code)
		}
	}
	compare(t, Pod(appThat(watchtest.Waits("RegistryUnavailable", "who knows")), cause.DefaultPolicy(),
		watchtest.Epoch).
		Failed, cause.RegistryUnreachable)
}
