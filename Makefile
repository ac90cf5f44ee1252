# What there is to do with this checkout. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The targets of `test` share the machine and the terminal.
.NOTPARALLEL:

# What is compiled in one checkout is not compiled again in another.
export GOFLAGS := $(strip $(filter-out -trimpath,$(GOFLAGS)) -trimpath)

# Every module with code to test and lint; test/cluster/kubernetes only says
# which Kubernetes is built.
MODULES := . $(patsubst %/go.mod,%,$(wildcard test/*/go.mod))

# The Kubernetes that tests on a cluster run on: the newest, or make test-e2e KUBERNETES=1.31.
KUBERNETES ?= $(BERTH_TEST_KUBERNETES)
export BERTH_TEST_KUBERNETES := $(KUBERNETES)

# Where generated files are, and nothing else.
GENERATED := completions docs/commands docs/pictures docs/schema docs/exit-codes.md docs/user-strings.md docs/environment.md docs/rbac.md docs/causes.md internal/commands/explain/examples

.PHONY: help build test test-unit test-ssh-clients test-machines mutation test-startup test-csi test-cluster test-e2e torture chaos fuzz demo lint build-others test-others fmt generate generate-check site test-site man release-check snapshot test-packages

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build bin/berth
	CGO_ENABLED=0 go build -tags grpcnotrace -trimpath -o bin/berth ./cmd/berth # the tag: docs/design/dependencies.md

test: test-unit ## Run all tests (Linux and root: some of them start a real cluster)
	@if [[ $$(uname -s) != Linux || $$(id -u) != 0 ]]; then \
		echo "make test: the unit tests passed, but the tests on a cluster were NOT run, as they take Linux and root: run 'sudo make test' there, or 'make test-unit' for the unit tests alone" >&2; \
		exit 1; \
	fi
	@$(MAKE) --no-print-directory test-startup test-csi test-e2e test-cluster

# What is left out of -short for its time is run without the race detector.
test-unit: ## Run the tests that need nothing but Go and a C compiler
	@scripts/unit $(MODULES)
	@for tests in '. ./internal/tools/...' 'TestShellsComplete ./internal/commands' 'TestRefusedRequests ./internal/provision' \
		'TestAttacks|TestPrograms ./internal/chart'; do \
		echo "== go test -run $$tests"; \
		go test -run $$tests; \
	done
	@echo "== go test -run TestHelm ./internal/bundle/source ./internal/bundle/dependency (with helm)"
	@PATH="$$(dirname "$$(scripts/tool helm)"):$$PATH" go test -run TestHelm ./internal/bundle/source ./internal/bundle/dependency

mutation: ## Change the program in 300 places, one at a time, and list those that no unit test notices (an hour and a half)
	@cd test/mutate && go run . -n 300

test-startup: ## Test what each start of berth takes: memory, time, and the size of the program
	@echo "== go test ./test/startup/..."
	@go test -count=1 ./test/startup/...

test-csi: ## Test the driver of scratch volumes with csi-sanity (Linux and root)
	@echo "== go test in test/csi"
	@cd test/csi && go test -count=1 ./...

test-e2e: ## Test berth on a cluster of its own (KUBERNETES=1.31), or the one of BERTH_TEST_KUBECONFIG
	@echo "== go test -tags e2e ./test/e2e/..."
	@BERTH_TEST_SAMPLE=$$(git rev-list --count HEAD) scripts/with-cluster \
		go test -count=1 -vet=off -timeout 50m -parallel 1000 -tags e2e ./test/e2e/... # how many work: places_test.go

test-ssh-clients: ## Try every SSH client, and more bytes and longer pauses (they are installed from Debian's packages, and npm)
	@apt-get -q -y --no-install-recommends install rsync dropbear-bin putty-tools sshfs ansible-core python3-paramiko python3-asyncssh tmux >/dev/null
	@BERTH_TEST_SSH_CLIENTS=all scripts/with-cluster go test -count=1 -timeout 30m -parallel 6 -tags e2e -run 'TestSSH|LeavesSSH' ./test/e2e/...

test-machines: ## Test machines, also at a runtime of their own, and 500 sessions of each way into machines and pods
	@BERTH_TEST_ENDINGS=500 scripts/with-cluster go test -count=1 -timeout 50m -parallel 1000 -tags e2e -run 'TestMachines|TestGateway$$' ./test/e2e/...

torture: ## Kill berth around each of its API calls, and take each of its permissions away
	@BERTH_TEST_TORTURE=full scripts/with-cluster go test -count=1 -timeout 60m -parallel 1000 -tags e2e -run 'TestTorture|TestRoles|TestBundleKilled' ./test/e2e/...

chaos: ## Try everything at random that once broke berth: kills, stops, faults, others at work (an hour at most)
	@BERTH_TEST_CHAOS=full scripts/with-cluster go test -count=1 -timeout 60m -parallel 1000 -tags e2e -run 'TestChaos|AtOnce' ./test/e2e/...

FUZZTIME := 5s

fuzz: ## Run each fuzz test for a while (FUZZTIME=10m)
	@scripts/fuzz $(FUZZTIME)

test-cluster: ## Test the test cluster itself
	@echo "== go test in test/cluster"
	@cd test/cluster && go test -timeout 45m ./... # they are tried again when they, or the cluster, change

demo: build ## Show what berth does, on a real cluster (CLUSTER=current: on the one of your kubeconfig)
	@CLUSTER='$(CLUSTER)' ./demo/run.sh

lint: ## Check style, architecture, scripts and module files
	@scripts/lint $(MODULES)

build-others: ## Compile for macOS and Windows, and test the program itself on this system
	@for os in darwin windows; do \
		echo "== GOOS=$$os go build ./cmd/berth"; \
		GOOS=$$os CGO_ENABLED=0 go build -tags grpcnotrace -o /dev/null ./cmd/berth; \
	done
	@echo "== go test ./test/others"
	@CGO_ENABLED=0 go build -tags grpcnotrace -o bin/others/berth ./cmd/berth
	@BERTH_TEST_PROGRAM=../../bin/others/berth go test -count=1 ./test/others

test-others: ## Test for Windows, macOS and arm64 what depends on the system (root and Debian; an hour the first time)
	@apt-get -q -y --no-install-recommends install qemu-user-static debootstrap >/dev/null
	@scripts/other-systems

fmt: ## Format the Go files
	@linter=$$(scripts/tool golangci-lint); \
	for module in $(MODULES); do (cd "$$module" && "$$linter" fmt --config '$(CURDIR)/.golangci.yaml'); done

generate: ## Write completions, command reference, schemas and pictures
	go run ./internal/tools/generate

generate-check: generate ## Fail if what is committed is not what make generate writes
	@changed=$$(git status --porcelain -- $(GENERATED)); \
	if [[ -n $$changed ]]; then \
		git --no-pager diff -- $(GENERATED); \
		printf 'These generated files are not up to date; run make generate and commit them:\n%s\n' "$$changed" >&2; \
		exit 1; \
	fi

site: ## Build the site of the documentation into site/dist (it takes npm)
	@scripts/site

test-site: site ## Look at the site in a browser without a screen (it takes Debian's chromium-headless-shell, or CHROME)
	@cd site && node test.mjs

man: ## Write the man pages into man/, for a release
	rm -rf man
	go run ./internal/tools/generate -man man

release-check: ## Check the release configuration, and build a snapshot for this machine
	@releaser=$$(scripts/tool goreleaser); \
	"$$releaser" check; \
	"$$releaser" build --snapshot --clean --single-target

# Nobody signs a snapshot. What takes programs that are not here is left out, and named.
snapshot: ## Build everything that a release has into dist/: archives, packages, manifests
	@skip=publish,sign; \
	command -v syft >/dev/null || skip+=,sbom; \
	docker buildx version >/dev/null 2>&1 || skip+=,docker; \
	releaser=$$(scripts/tool goreleaser); \
	echo "== goreleaser release --snapshot --clean --skip=$$skip"; \
	"$$releaser" release --snapshot --clean --skip=$$skip

test-packages: snapshot ## Install and remove what a release has, and go from nothing to a workspace (Linux and root)
	@echo "== go test ./test/packages"
	@BERTH_TEST_SNAPSHOT='$(CURDIR)/dist' scripts/with-cluster go test -count=1 -timeout 30m -v ./test/packages

include test/cluster/cluster.mk
# The benchmark is a module of its own, with a target of its own: bench.
-include test/bench/bench.mk
