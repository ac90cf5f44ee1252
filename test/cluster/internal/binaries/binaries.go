// Package binaries builds the Kubernetes programs, once for each version of
// their sources.
package binaries

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// heartbeat is how often a long build says that it is still going.
const heartbeat = 15 * time.Second

// Names are the programs in the multi-call binary.
func Names() []string {
	return []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet",
		"kubectl",
	}
}

// Key names a build: the same sources, flags and machine give the same key.
func Key(v Version, sources map[string][]byte, goos, goarch string) string {
	hash := sha256.New()
	fmt.Fprintln(hash, goos, goarch, v.ldflags())
	for _, name := range v.files() {
		fmt.Fprintln(hash, name, len(sources[name]))
		hash.Write(sources[name])
	}
	return v.Full + "-" + hex.EncodeToString(hash.Sum(nil))[:12]
}

// ldflags tell the programs their version; without it clients cannot parse
// what the server says.
func (v Version) ldflags() string {
	minor := strings.Split(v.Full, ".")[1]
	set := []string{
		"gitVersion=" + v.Full, "gitMajor=1", "gitMinor=" + minor, "gitTreeState=clean",
		"gitCommit=0000000000000000000000000000000000000000", "buildDate=2026-01-01T00:00:00Z",
	}
	return "-s -w -X k8s.io/component-base/version." + strings.Join(set, " -X k8s.io/component-base/version.")
}

// Ensure returns the directory with the programs of a version built from the
// sources, building them if they are not in the cache yet.
func Ensure(ctx context.Context, v Version, source, cache string, say func(string)) (string, error) {
	sources := map[string][]byte{}
	for _, name := range v.files() {
		data, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", fmt.Errorf("read the sources of the Kubernetes programs: %w", err)
		}
		sources[name] = data
	}
	dir := filepath.Join(cache, Key(v, sources, runtime.GOOS, runtime.GOARCH))
	if complete(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir, say)
	if err != nil {
		return "", err
	}
	defer unlock()
	if complete(dir) { // another one built it in the meantime
		return dir, nil
	}
	return dir, build(ctx, v, source, dir, say)
}

func binary(dir string) string { return filepath.Join(dir, "kubernetes") }

func complete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "kubectl"))
	return err == nil
}

// lock makes a second build of the same thing wait for the first.
func lock(dir string, say func(string)) (func(), error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		say("waiting for another build of the Kubernetes programs")
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { file.Close() }, nil
}

func build(ctx context.Context, v Version, source, dir string, say func(string)) error {
	compiler, err := exec.LookPath("go")
	if err != nil {
		return errors.New("no go command in PATH: the cluster builds its Kubernetes programs with it; install Go, or " +
			"add it to PATH (sudo leaves it out)")
	}
	say("building Kubernetes " + v.Full + " and etcd: this takes some minutes the first time")
	cmd := exec.CommandContext(ctx, compiler, "build", "-modfile="+v.Module, "-trimpath", "-ldflags="+v.ldflags(),
		"-o", binary(dir)+".new", ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	stop := every(heartbeat, func(elapsed time.Duration) {
		say(fmt.Sprintf("still building Kubernetes after %s", elapsed.Round(time.Second)))
	})
	out, err := cmd.CombinedOutput()
	stop()
	if err != nil {
		return fmt.Errorf("build the Kubernetes programs in %s: %w\n%s", source, err, out)
	}
	if err := os.Rename(binary(dir)+".new", binary(dir)); err != nil {
		return err
	}
	return link(dir)
}

// link makes the names; kubectl comes last and says that all is there.
func link(dir string) error {
	for _, name := range Names() {
		err := os.Symlink(filepath.Base(binary(dir)), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func every(period time.Duration, do func(time.Duration)) (stop func()) {
	began := time.Now()
	ticker := time.NewTicker(period)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				do(time.Since(began))
			case <-done:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}
