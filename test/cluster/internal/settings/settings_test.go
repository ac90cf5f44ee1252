package settings

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func cluster() Cluster {
	return Cluster{
		Dir: "/state", ID: "0123abcd", Program: "/state/bin/cluster", Kubernetes: "/state/bin", CNI: "/cni",
		PodSubnet: "10.130.0.0/16",
	}
}

func TestPodSubnet(t *testing.T) {
	_, services, err := net.ParseCIDR(ServiceRange)
	if err != nil {
		t.Fatal(err)
	}
	for b := range 256 {
		_, pods, err := net.ParseCIDR(PodSubnet([]byte{byte(b)}))
		if err != nil {
			t.Fatal(err)
		}
		if pods.Contains(net.ParseIP(NodeAddress)) || pods.Contains(services.IP) {
			t.Errorf("%s has the node or the services in it", pods)
		}
	}
}

func TestControlGroupsOfBothVersions(t *testing.T) {
	c := cluster()
	if file := c.Files()["kubelet.yaml"]; !strings.Contains(file, "failCgroupV1: false\n") {
		t.Error("on version 1 the kubelet is not configured to accept it")
	}
	c.Unified = true
	if file := c.Files()["kubelet.yaml"]; strings.Contains(file, "failCgroupV1") {
		t.Error("on version 2 the kubelet is configured for version 1")
	}
}

// A disk of which other programs have taken nearly all must not taint the node.
func TestDiskSpaceTakesNoNode(t *testing.T) {
	file := cluster().Files()["kubelet.yaml"]
	for _, signal := range []string{"nodefs.available", "nodefs.inodesFree", "imagefs.available"} {
		if !strings.Contains(file, "  "+signal+": 0%\n") {
			t.Errorf("the kubelet watches %s", signal)
		}
	}
}

// A template with the wrong number of arguments shows as such in its output.
func TestFilesAreComplete(t *testing.T) {
	for name, content := range cluster().Files() {
		if strings.Contains(content, "%!") {
			t.Errorf("%s:\n%s", name, content)
		}
	}
}

// Every daemon waits only for daemons that exist and were listed before it, so
// that none waits for ever.
func TestDaemonsStartInOrder(t *testing.T) {
	var before []string
	for _, d := range cluster().Daemons() {
		for _, name := range d.After {
			if !slices.Contains(before, name) {
				t.Errorf("%s waits for %s, which does not come before it", d.Name, name)
			}
		}
		before = append(before, d.Name)
	}
}
