// Package instance brings one test cluster up and down.
//
// A cluster is its state directory: what is in there, and the one process that
// supervises it, which is found by its command line.
package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/test/cluster/internal/binaries"
	"github.com/berthdev/berth/test/cluster/internal/settings"
)

// Base is where state directories are unless another place is asked for.
const Base = "/var/lib/berth-cluster"

// marker is in every state directory; without it nothing is removed.
const marker = "this-is-a-berth-test-cluster"

// Instance is one cluster on this machine.
type Instance struct {
	dir string
	// Source is the directory of this module, with the sources to build.
	Source string
	// Kubernetes is the version that Up starts. A cluster that runs stays what it is.
	Kubernetes binaries.Version
	// Say tells the user about progress.
	Say func(string)
}

// New names the instance of a state directory.
func New(dir, source string, say func(string)) (*Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// The path is mounted and compared, which takes the real one.
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	return &Instance{dir: dir, Source: source, Say: say}, nil
}

// DefaultDir gives every checkout a state directory of its own.
func DefaultDir(checkout string) string {
	return filepath.Join(Base, ID(checkout))
}

// ID names the instance of a state directory.
func ID(dir string) string { return hex.EncodeToString(digest(dir))[:8] }

func digest(path string) []byte {
	sum := sha256.Sum256([]byte(path))
	return sum[:]
}

// Dir is the state directory.
func (i *Instance) Dir() string { return i.dir }

// Kubeconfig is the path of the administrator's kubeconfig.
func (i *Instance) Kubeconfig() string { return i.path("kubeconfig") }

// Program is the path of one of the Kubernetes programs.
func (i *Instance) Program(name string) string { return i.path("bin", name) }

func (i *Instance) path(elements ...string) string {
	return filepath.Join(append([]string{i.dir}, elements...)...)
}

// settings of this instance; what depends on the machine is left out.
func (i *Instance) settings() settings.Cluster {
	hash := digest(i.dir)
	return settings.Cluster{
		Dir:        i.dir,
		ID:         ID(i.dir),
		Program:    i.path("bin", "cluster"),
		Kubernetes: i.path("bin"),
		PodSubnet:  settings.PodSubnet(hash),
		Backoff:    i.Kubernetes.AtLeast("1.34"),
	}
}

// claim makes the state directory, or makes sure that it is one.
func (i *Instance) claim() error {
	if err := os.MkdirAll(i.dir, 0o755); err != nil {
		return err
	}
	if err := i.owned(); err == nil {
		return nil
	}
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s has files in it that are not a cluster's: name an empty or a new directory", i.dir)
	}
	return os.WriteFile(i.path(marker), nil, 0o644)
}

// errNotOurs is what owned returns for a directory that up did not make.
var errNotOurs = errors.New("not the state directory of a cluster")

func (i *Instance) owned() error {
	if _, err := os.Stat(i.path(marker)); err != nil {
		return fmt.Errorf("%s: %w", i.dir, errNotOurs)
	}
	return nil
}
