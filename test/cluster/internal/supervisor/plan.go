// Package supervisor is the first process inside a cluster's namespaces. It
// sets them up, starts the daemons, and starts those again that end.
//
// Everything the cluster does to the machine happens inside these namespaces.
// Because the supervisor is the first process of its process namespace, the
// kernel kills every other process in there when it ends, however it ends; and
// with the last process go all mounts, interfaces and packet filter rules.
package supervisor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Plan is everything the supervisor needs to know.
type Plan struct {
	// Private lists what the cluster gets of its own in place of the
	// machine's directories.
	Private []Mount
	// Keep lists directories that stay visible at their path, wherever they
	// are.
	Keep []string
	// Sysctls pins kernel settings: inside they read as the value given here,
	// and writing them changes nothing outside.
	Sysctls map[string]string
	// NodeAddress is put on the loopback interface: not every kernel has
	// dummy devices, and nothing needs to reach the node from elsewhere.
	NodeAddress string
	// ServiceRange gets a route, without which nothing on the node itself
	// could send to a service address, as there is no default route.
	ServiceRange string
	// Resolver replaces /etc/resolv.conf.
	Resolver string
	Daemons  []Daemon
}

// Mount is one directory and what replaces it: another directory, or an empty
// file system in memory if Source is empty.
type Mount struct {
	Path, Source string
}

// Daemon is one program to keep running.
type Daemon struct {
	Name string
	Args []string
	// After names the daemons that have to be ready before this one starts.
	After []string
	// Ready is an address that answers once the daemon is ready: tcp://,
	// unix://, http:// or https:// (any certificate, status 200). Without
	// one it is ready as soon as it runs.
	Ready string
	// Listener passes the supervisor's own listening socket on, as file
	// descriptor 3.
	Listener bool
}

// State is what the supervisor knows of one daemon.
type State struct {
	Ready    bool
	Restarts int
	// Exit says how the daemon last ended, if it ever did.
	Exit string `json:",omitempty"`
}

// WritePlan stores the plan where a supervisor of the directory looks for it.
func WritePlan(dir string, plan Plan) error { return write(planFile(dir), plan) }

// ReadStates returns the daemons' states as of the latest change.
func ReadStates(dir string) (map[string]State, error) {
	states := map[string]State{}
	err := read(statesFile(dir), &states)
	return states, err
}

// RemoveStates forgets what an earlier supervisor wrote.
func RemoveStates(dir string) error { return os.RemoveAll(statesFile(dir)) }

// LogFile is where a daemon's output goes.
func LogFile(dir, daemon string) string { return filepath.Join(dir, "log", daemon+".log") }

func planFile(dir string) string   { return filepath.Join(dir, "plan.json") }
func statesFile(dir string) string { return filepath.Join(dir, "states.json") }

func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// write replaces the file at once, so that a reader sees the old or the new
// content and never a part.
func write(path string, content any) error {
	data, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
