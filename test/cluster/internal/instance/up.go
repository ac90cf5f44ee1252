package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/binaries"
	"github.com/berthdev/berth/test/cluster/internal/cgroup"
	"github.com/berthdev/berth/test/cluster/internal/host"
	"github.com/berthdev/berth/test/cluster/internal/kube"
)

// startTimeout is how long a cluster may take to be ready once it is started;
// a few seconds are normal.
const startTimeout = 3 * time.Minute

// Up makes sure that the cluster runs and is ready.
func (i *Instance) Up(ctx context.Context) error {
	if err := host.CheckRoot(os.Geteuid()); err != nil {
		return err
	}
	unlock, err := i.lock()
	if err != nil {
		return err
	}
	defer unlock()
	running, err := i.Running()
	if err != nil {
		return err
	}
	if running {
		err := i.wait(ctx, i.watch())
		if !errors.Is(err, errEnded) {
			return err
		}
		i.Say("the cluster has just ended: starting a new one")
	}
	gone, err := i.start(ctx)
	if err != nil {
		return err
	}
	return i.wait(ctx, gone)
}

// start sets everything up and starts the supervisor. The channel reports the
// supervisor's end.
func (i *Instance) start(ctx context.Context) (<-chan error, error) {
	if err := i.prepare(ctx); err != nil {
		return nil, err
	}
	// An instance that died leaves its node's disk behind, half-way through
	// whatever it did. A new one starts from nothing, with the same port and
	// certificates, so that kubeconfigs stay good.
	if err := i.kill(); err != nil {
		return nil, err
	}
	if err := i.clean(); err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	programs, err := i.step("Kubernetes programs", func() (string, error) {
		return binaries.Ensure(ctx, i.Kubernetes, filepath.Join(i.Source, "kubernetes"), cache, i.Say)
	})
	if err != nil {
		return nil, err
	}
	listener, err := i.listen()
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	if err := i.write(programs); err != nil {
		return nil, err
	}
	return i.launch(listener)
}

// prepare makes the machine and the state directory fit.
func (i *Instance) prepare(ctx context.Context) error {
	if missing := host.Missing(); len(missing) > 0 {
		if err := host.Install(ctx, missing, i.Say); err != nil {
			return err
		}
	}
	return i.claim()
}

// clean removes what a cluster that no longer runs has left, except for what
// makes the next one the same to its users.
func (i *Instance) clean() error {
	c := i.settings()
	if err := cgroup.Remove(c.CgroupRoot(), endTimeout); err != nil {
		return err
	}
	for _, name := range []string{"node", "etcd", "conf", "log", "states.json", "supervisor"} {
		if err := os.RemoveAll(i.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// cacheDir is where programs are kept from one cluster to the next.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for the built programs: %w", err)
	}
	return filepath.Join(base, "berth-cluster"), nil
}

// step says how long something took.
func (i *Instance) step(what string, do func() (string, error)) (string, error) {
	began := time.Now()
	result, err := do()
	if err == nil {
		i.Say(fmt.Sprintf("%-24s %5.1f s", what, time.Since(began).Seconds()))
	}
	return result, err
}

// client talks to the cluster as its administrator.
func (i *Instance) client() (*kube.Client, error) {
	address, err := i.address()
	if err != nil {
		return nil, err
	}
	return kube.New("https://"+address, i.settings().PKI(), "admin")
}
