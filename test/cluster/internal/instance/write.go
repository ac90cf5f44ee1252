package instance

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/test/cluster/internal/binaries"
	"github.com/berthdev/berth/test/cluster/internal/cgroup"
	"github.com/berthdev/berth/test/cluster/internal/host"
	"github.com/berthdev/berth/test/cluster/internal/pki"
	"github.com/berthdev/berth/test/cluster/internal/settings"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// write puts everything into the state directory that the supervisor and the
// daemons read.
func (i *Instance) write(programs string) error {
	c := i.settings()
	var err error
	if c.Unified, err = cgroup.Unified(); err != nil {
		return err
	}
	if c.CNI, err = host.CNI(); err != nil {
		return err
	}
	if err := i.writePrograms(programs); err != nil {
		return err
	}
	if err := pki.Write(c.PKI(), settings.Server(), settings.Clients()); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	if err := i.writeFiles(c); err != nil {
		return err
	}
	if err := i.writeKubeconfigs(c); err != nil {
		return err
	}
	plan := c.Plan(programs)
	for _, m := range plan.Private {
		if m.Source == "" {
			continue
		}
		// As /tmp is; the others may well be the same.
		if err := os.MkdirAll(m.Source, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(m.Source, os.ModeSticky|0o777); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(i.path("log"), 0o755); err != nil {
		return err
	}
	if err := cgroup.Create(c.CgroupRoot()); err != nil {
		return err
	}
	return supervisor.WritePlan(i.dir, plan)
}

// writePrograms copies this very program, since that of "go run" is gone when
// it ends, and links the Kubernetes ones.
func (i *Instance) writePrograms(programs string) error {
	if err := os.RemoveAll(i.path("bin")); err != nil {
		return err
	}
	if err := os.MkdirAll(i.path("bin"), 0o755); err != nil {
		return err
	}
	for _, name := range binaries.Names() {
		if err := os.Symlink(filepath.Join(programs, name), i.Program(name)); err != nil {
			return err
		}
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	copied, err := os.OpenFile(i.path("bin", "cluster"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(copied, self); err != nil {
		copied.Close()
		return err
	}
	return copied.Close()
}

func (i *Instance) writeFiles(c settings.Cluster) error {
	for name, content := range c.Files() {
		path := c.Conf(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (i *Instance) writeKubeconfigs(c settings.Cluster) error {
	for name, client := range settings.Kubeconfigs() {
		if err := writeKubeconfig(c, c.Conf(name), client, settings.APIAddress); err != nil {
			return err
		}
	}
	address, err := i.address()
	if err != nil {
		return err
	}
	return writeKubeconfig(c, i.Kubeconfig(), "admin", address)
}

func writeKubeconfig(c settings.Cluster, path, client, address string) error {
	content, err := pki.Kubeconfig(c.PKI(), client, "berth-"+c.ID, "https://"+address)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
