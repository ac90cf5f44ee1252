package settings

import (
	"path/filepath"

	"github.com/berthdev/berth/test/cluster/internal/images"
	"github.com/berthdev/berth/test/cluster/internal/pki"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

// Daemons lists everything that runs in a cluster.
func (c Cluster) Daemons() []supervisor.Daemon {
	return []supervisor.Daemon{
		c.helper("registry", "tcp://"+RegistryAddress, RegistryAddress, filepath.Join(c.Dir, images.Programs)),
		c.helper("dns", "tcp://"+DNSAddress, DNSAddress, "https://"+APIAddress, c.PKI()),
		c.relay(),
		c.etcd(),
		c.apiserver(),
		c.controllerManager(),
		c.scheduler(),
		c.containerd(),
		c.kubelet(),
		c.proxy(),
	}
}

// helper is this driver's own program in another role.
func (c Cluster) helper(name, ready string, args ...string) supervisor.Daemon {
	return supervisor.Daemon{Name: name, Ready: ready, Args: append([]string{c.Program, name}, args...)}
}

// relay has no address to look at from inside: its socket is outside.
func (c Cluster) relay() supervisor.Daemon {
	d := c.helper("relay", "", APIAddress)
	d.Listener = true
	return d
}

func (c Cluster) kubernetes(name, ready string, after []string, flags ...string) supervisor.Daemon {
	return supervisor.Daemon{
		Name: name, Ready: ready, After: after,
		Args: append([]string{filepath.Join(c.Kubernetes, name)}, flags...),
	}
}

func (c Cluster) etcd() supervisor.Daemon {
	return c.kubernetes("etcd", "tcp://127.0.0.1:2379", nil,
		"--data-dir="+filepath.Join(c.Dir, "etcd"),
		"--unsafe-no-fsync", // the data need not survive the machine
		"--listen-client-urls="+etcdClient, "--advertise-client-urls="+etcdClient,
		"--listen-peer-urls="+etcdPeer, "--initial-advertise-peer-urls="+etcdPeer,
		"--initial-cluster=default="+etcdPeer,
		"--quota-backend-bytes=2147483648",
	)
}

func (c Cluster) apiserver() supervisor.Daemon {
	return c.kubernetes("kube-apiserver", "https://"+APIAddress+"/readyz", []string{"etcd"},
		"--etcd-servers="+etcdClient,
		"--bind-address=0.0.0.0", "--secure-port=6443", "--advertise-address="+NodeAddress,
		"--cert-dir="+c.key("apiserver"),
		"--tls-cert-file="+c.key("apiserver.crt"), "--tls-private-key-file="+c.key("apiserver.key"),
		"--client-ca-file="+c.key("ca.crt"),
		"--kubelet-client-certificate="+c.key("kubelet-client.crt"),
		"--kubelet-client-key="+c.key("kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file="+c.key("sa.key"), "--service-account-key-file="+c.key("sa.key"),
		"--service-cluster-ip-range="+ServiceRange,
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--enable-aggregator-routing=true", // webhooks and other API servers by endpoint, not by service address
		"--requestheader-client-ca-file="+c.key(pki.FrontProxyCA+".crt"),
		"--requestheader-allowed-names="+pki.FrontProxy,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+c.key(pki.FrontProxy+".crt"),
		"--proxy-client-key-file="+c.key(pki.FrontProxy+".key"),
		"--profiling=false",
	)
}

func (c Cluster) controllerManager() supervisor.Daemon {
	return c.kubernetes("kube-controller-manager", "https://127.0.0.1:10257/healthz", []string{"kube-apiserver"},
		"--kubeconfig="+c.Conf("controllers.kubeconfig"),
		"--bind-address=127.0.0.1", "--cert-dir="+c.key("controller-manager"),
		"--leader-elect=false",
		"--kube-api-qps=300", "--kube-api-burst=600",
		"--service-account-private-key-file="+c.key("sa.key"), "--root-ca-file="+c.key("ca.crt"),
		"--cluster-signing-cert-file="+c.key("ca.crt"), "--cluster-signing-key-file="+c.key("ca.key"),
		"--enable-hostpath-provisioner",
		"--flex-volume-plugin-dir="+volumePlugins,
		"--profiling=false",
	)
}

func (c Cluster) scheduler() supervisor.Daemon {
	return c.kubernetes("kube-scheduler", "https://127.0.0.1:10259/healthz", []string{"kube-apiserver"},
		"--kubeconfig="+c.Conf("scheduler.kubeconfig"),
		"--bind-address=127.0.0.1", "--cert-dir="+c.key("scheduler"),
		"--leader-elect=false",
		"--kube-api-qps=300", "--kube-api-burst=600",
		"--profiling=false",
	)
}

func (c Cluster) containerd() supervisor.Daemon {
	return supervisor.Daemon{
		Name:  "containerd",
		Args:  []string{"/usr/bin/containerd", "--config", c.Conf("containerd.toml")},
		Ready: "unix://" + containerdSocket,
	}
}

func (c Cluster) kubelet() supervisor.Daemon {
	return c.kubernetes("kubelet", "http://127.0.0.1:10248/healthz",
		[]string{"kube-apiserver", "containerd", "registry", "dns"},
		"--config="+c.Conf("kubelet.yaml"),
		"--kubeconfig="+c.Conf("node.kubeconfig"),
		"--cert-dir="+c.key("kubelet"),
		"--hostname-override="+NodeName, "--node-ip="+NodeAddress,
	)
}

func (c Cluster) proxy() supervisor.Daemon {
	return c.kubernetes("kube-proxy", "http://127.0.0.1:10256/livez", []string{"kube-apiserver"},
		"--config="+c.Conf("kube-proxy.yaml"),
	)
}
