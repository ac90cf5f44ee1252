package settings

import (
	"path/filepath"

	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// Kubeconfigs maps the files below conf to the client each is for.
func Kubeconfigs() map[string]string {
	return map[string]string{
		"controllers.kubeconfig": "controllers",
		"scheduler.kubeconfig":   "scheduler",
		"proxy.kubeconfig":       "proxy",
		"node.kubeconfig":        "node",
	}
}

// Node is the directory that holds what is on the node's disk. It lasts as
// long as the supervisor.
func (c Cluster) Node() string { return filepath.Join(c.Dir, "node") }

// Plan is what the supervisor does. The private directories are those where
// kubelet, containerd, runc, the network plugins, kube-proxy and the volume
// provisioner keep files at paths that cannot be chosen.
func (c Cluster) Plan(keep ...string) supervisor.Plan {
	return supervisor.Plan{
		Private: []supervisor.Mount{
			{Path: "/run"},
			{Path: "/tmp", Source: filepath.Join(c.Node(), "tmp")},
			{Path: "/var/lib", Source: filepath.Join(c.Node(), "lib")},
			{Path: "/var/log", Source: filepath.Join(c.Node(), "log")},
		},
		Keep:         append([]string{c.Dir}, keep...),
		Sysctls:      sysctls(),
		NodeAddress:  NodeAddress,
		ServiceRange: ServiceRange,
		Resolver:     Resolver,
		Daemons:      c.Daemons(),
	}
}

// sysctls are what the kubelet insists on. It finds them as it wants them, and
// the machine keeps its own.
func sysctls() map[string]string {
	return map[string]string{
		"kernel/keys/root_maxbytes": "25000000",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
	}
}
