//go:build linux

package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// machine is everything on this machine that a cluster must leave as it was.
type machine struct {
	Interfaces []string
	Rules      string
	Namespaces []string
	Mounts     []string
	Sysctls    map[string]string
	Present    map[string]bool
}

func lookAtMachine(t *testing.T) machine {
	t.Helper()
	m := machine{Sysctls: map[string]string{}, Present: map[string]bool{}}
	interfaces, err := net.Interfaces()
	check(t, err)
	for _, i := range interfaces {
		m.Interfaces = append(m.Interfaces, i.Name)
	}
	rules, _ := exec.Command("nft", "list", "ruleset").Output() // not there before the first start: no rules
	m.Rules = string(rules)
	m.Namespaces, _ = filepath.Glob("/run/netns/*")
	mounts, err := os.ReadFile("/proc/self/mounts")
	check(t, err)
	m.Mounts = strings.Split(string(mounts), "\n")
	for _, name := range []string{
		"kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "vm/panic_on_oom",
		"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward",
	} {
		value, _ := os.ReadFile("/proc/sys/" + name) // not every kernel has every one
		m.Sysctls[name] = string(value)
	}
	for _, path := range []string{
		"/var/lib/kubelet", "/var/lib/cni", "/var/lib/containerd", "/var/log/pods", "/var/log/containers",
		"/usr/libexec/kubernetes", "/run/containerd", "/run/xtables.lock", "/tmp/hostpath_pv", "/etc/cni",
	} {
		_, err := os.Stat(path)
		m.Present[path] = err == nil
	}
	return m
}

// same reports every difference.
func (m machine) same(t *testing.T, after machine) {
	t.Helper()
	if !reflect.DeepEqual(m, after) {
		t.Errorf("the machine is not as it was:\nbefore %+v\nafter  %+v", m, after)
	}
}

// processes finds everything with the state directory in its command line or
// environment, by the name of the program.
func processes(t *testing.T, dir string) map[string]int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(t, err)
	found := map[string]int{}
	for _, path := range lines {
		line, _ := os.ReadFile(path) // gone in the meantime is fine
		environment, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		check(t, err)
		args := strings.Split(string(line), "\x00")
		if bytes.Contains(line, []byte(dir+"/")) || bytes.Contains(environment, []byte(dir+"/")) {
			name := filepath.Base(args[0])
			if name == "cluster" && len(args) > 1 {
				name = args[1]
			}
			// A daemon that starts a program looks like two for a moment: the child is younger.
			if first, ok := found[name]; !ok || pid < first {
				found[name] = pid
			}
		}
	}
	return found
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
