package settings

import "fmt"

// volumePlugins would be below /usr by default, which the cluster leaves alone.
const volumePlugins = "/var/lib/kubelet/volume-plugins"

// Hosts are the registries that images are pulled from. All of them are the
// cluster's own; any other one does not exist.
func hosts() []string { return []string{"registry.example.com", "docker.io", "registry.k8s.io"} }

// Files renders every configuration file, by its path below conf.
func (c Cluster) Files() map[string]string {
	files := map[string]string{
		"containerd.toml":          c.containerdFile(),
		"net.d/10-bridge.conflist": c.network(),
		"kubelet.yaml":             c.kubeletFile(),
		"kube-proxy.yaml":          c.proxyFile(),
		"resolv.conf":              Resolver,
	}
	for _, host := range hosts() {
		files["certs.d/"+host+"/hosts.toml"] = mirror
	}
	return files
}

// Resolver is the resolv.conf of everything in the cluster.
const Resolver = "nameserver " + NodeAddress + "\n"

const mirror = `server = "http://` + RegistryAddress + `"

[host."http://` + RegistryAddress + `"]
  capabilities = ["pull", "resolve"]
`

// containerdFile: restrict_oom_score_adj is for machines that do not let root
// lower the score, where runc would fail. Snapshotters and plugins that are of
// no use here only fill the log.
func (c Cluster) containerdFile() string {
	return fmt.Sprintf(`version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.opt",
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
]

[grpc]
  address = %q

[plugins."io.containerd.grpc.v1.cri"]
  disable_apparmor = true
  restrict_oom_score_adj = true
  sandbox_image = "registry.k8s.io/pause:3.10"
  stream_server_address = "127.0.0.1"

  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    snapshotter = "overlayfs"

    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %q
`, containerdSocket, c.CNI, c.Conf("net.d"), c.Conf("certs.d"))
}

func (c Cluster) network() string {
	return fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "berth",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, c.PodSubnet)
}

// proxyFile leaves the size of the connection table alone: it belongs to the
// machine, and a network namespace cannot change it.
func (c Cluster) proxyFile() string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: %s
clusterCIDR: %s
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
clientConnection:
  kubeconfig: %s
conntrack:
  maxPerCore: 0
  min: 0
  tcpEstablishedTimeout: 0s
  tcpCloseWaitTimeout: 0s
`, NodeName, c.PodSubnet, c.Conf("proxy.kubeconfig"))
}
