// Package settings renders the configuration of everything in one cluster:
// the files, the command lines and what the supervisor is to do with them.
// Nothing in here touches the machine.
package settings

import (
	"net"
	"path/filepath"

	"github.com/berthdev/berth/test/cluster/internal/pki"
)

// Ports and addresses are the same in every cluster: each has a network of its
// own, which nothing leaves and nothing enters.
const (
	NodeName     = "berth-node"
	NodeAddress  = "10.88.0.1"
	ServiceRange = "10.96.0.0/16"

	apiServiceAddress = "10.96.0.1"
	// APIAddress is where the API server is reached inside.
	APIAddress      = "127.0.0.1:6443"
	RegistryAddress = "127.0.0.1:5000"
	DNSAddress      = NodeAddress + ":53"

	etcdClient = "http://127.0.0.1:2379"
	etcdPeer   = "http://127.0.0.1:2380"
)

// containerdSocket is below a directory that is private to the cluster; a path
// of its own below the state directory could be too long for a socket.
const containerdSocket = "/run/containerd/containerd.sock"

// Cluster is what the settings of one cluster depend on.
type Cluster struct {
	// Dir is the state directory.
	Dir string
	// ID tells clusters on one machine apart.
	ID string
	// Program is this driver, for the helpers, and Kubernetes the directory
	// with links to the multi-call binary.
	Program, Kubernetes string
	// CNI is the directory with the network plugins.
	CNI string
	// PodSubnet is the range of the pods' addresses.
	PodSubnet string
	// Unified says that the machine has control groups of version 2.
	Unified bool
	// Backoff says that the kubelet can be told how long a crash loop's pauses are.
	Backoff bool
}

// CgroupRoot is the control group below which all pods are.
func (c Cluster) CgroupRoot() string { return "berth-" + c.ID }

// Conf is the path of a rendered file.
func (c Cluster) Conf(name string) string { return filepath.Join(c.Dir, "conf", name) }

// PKI is the directory with certificates and keys.
func (c Cluster) PKI() string { return filepath.Join(c.Dir, "pki") }

func (c Cluster) key(name string) string { return filepath.Join(c.PKI(), name) }

// PodSubnet gives each cluster its own range of addresses. Nothing depends on
// it, as the networks are apart; but an address in a log then tells which
// cluster it is from.
func PodSubnet(hash []byte) string {
	return (&net.IPNet{
		IP:   net.IPv4(10, 128+hash[0]%64, 0, 0),
		Mask: net.CIDRMask(16, 32),
	}).String()
}

// Server is what the API server is called.
func Server() pki.Server {
	return pki.Server{
		Names: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
		},
		Addresses: []net.IP{net.IPv4(127, 0, 0, 1), net.ParseIP(NodeAddress), net.ParseIP(apiServiceAddress)},
	}
}

// Clients lists the users of the API. Admin is the one that people get.
func Clients() []pki.Client {
	return []pki.Client{
		{File: "admin", User: "admin", Group: "system:masters"},
		{File: "controllers", User: "system:kube-controller-manager", Group: "system:masters"},
		{File: "scheduler", User: "system:kube-scheduler"},
		{File: "proxy", User: "system:kube-proxy"},
		{File: "node", User: "system:node:" + NodeName, Group: "system:nodes"},
		{File: "kubelet-client", User: "kube-apiserver-kubelet-client", Group: "system:masters"},
		{File: "dns", User: "cluster-dns", Group: "system:masters"},
	}
}

// StorageClass is the default one. Its volumes are directories, made by the
// controller manager itself.
func StorageClass() map[string]any {
	return map[string]any{
		"apiVersion": "storage.k8s.io/v1",
		"kind":       "StorageClass",
		"metadata": map[string]any{
			"name":        "standard",
			"annotations": map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		"provisioner":   "kubernetes.io/host-path",
		"reclaimPolicy": "Delete",
	}
}
