// Package tools makes the programs that are compared. All are built from Go
// modules by the same compiler with the same flags, so that what differs is
// theirs; what does not change is kept between runs.
package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// The versions that berth is compared with.
const (
	HelmVersion    = "v3.22.0"
	KubectlVersion = "v1.36.3"
)

// Paths are where the programs are.
type Paths struct{ Berth, Helm, Kubectl string }

const ldflags = "-s -w"

// Build makes what is not there yet. berth is of the checkout and is always
// made again, into dir.
func Build(ctx context.Context, checkout, dir string, say func(string)) (Paths, error) {
	cache, err := cacheDir()
	if err != nil {
		return Paths{}, err
	}
	p := Paths{Berth: filepath.Join(dir, "berth")}
	say("building berth")
	if err := goBuild(ctx, checkout, p.Berth, "./cmd/berth", ldflags); err != nil {
		return p, err
	}
	if p.Helm, err = helm(ctx, cache, say); err != nil {
		return p, err
	}
	p.Kubectl, err = kubectl(ctx, cache, filepath.Join(checkout, "test", "bench", "kubectl"), say)
	return p, err
}

func helm(ctx context.Context, cache string, say func(string)) (string, error) {
	dir := keyed(cache, "helm-"+HelmVersion)
	program := filepath.Join(dir, "helm")
	if exists(program) {
		return program, nil
	}
	say("building helm " + HelmVersion + ": some minutes, once")
	return program, compile(ctx, "", []string{"GOBIN=" + dir}, "install", "-trimpath", "-ldflags="+ldflags,
		"helm.sh/helm/v3/cmd/helm@"+HelmVersion)
}

func kubectl(ctx context.Context, cache, source string, say func(string)) (string, error) {
	program := filepath.Join(keyed(cache, "kubectl-"+KubectlVersion), "kubectl")
	if exists(program) {
		return program, nil
	}
	say("building kubectl " + KubectlVersion + ": some minutes, once")
	return program, goBuild(ctx, source, program, ".", ldflags+" -X k8s.io/component-base/version.gitVersion="+
		KubectlVersion)
}

// goBuild leaves a whole program or none.
func goBuild(ctx context.Context, source, program, pkg, flags string) error {
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	if err := compile(ctx, source, nil, "build", "-tags=grpcnotrace", "-trimpath", "-ldflags="+flags, "-o",
		program+".new", pkg); err != nil {
		return err
	}
	return os.Rename(program+".new", program)
}

func compile(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	return nil
}

// keyed is a directory for one version of one program on this kind of machine.
func keyed(cache, name string) string {
	return filepath.Join(cache, fmt.Sprintf("%s-%s-%s-%s", name, runtime.GOOS, runtime.GOARCH, runtime.Version()))
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory to keep the compared programs in: %w", err)
	}
	return filepath.Join(base, "berth-cluster", "tools"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
