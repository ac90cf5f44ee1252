package provision_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/sshconfig"
)

// listed is a cluster, and a configuration of ssh that lists its workspaces, and those of another one.
func listed(t *testing.T) (own string) {
	t.Helper()
	cmdtest.Offline(t)
	t.Setenv("HOME", t.TempDir())
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	own = filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "berth", "ssh", "config")
	cmdtest.Must(t, 0, "ssh", "config", "--yes", "--list")
	c, err := sshconfig.Read(own)
	if err != nil {
		t.Fatal(err)
	}
	c.New, err = sshconfig.SetBlock(c.Old, sshconfig.Block{
		Name: "other", KnownHosts: "/k", Namespace: "team", Hosts: []string{"eve-1"},
		Proxy: []string{"berth", "ssh", "proxy", "--kubeconfig=" + os.Getenv("KUBECONFIG"), "--context=y"},
	})
	if err != nil || c.Write() != nil {
		t.Fatal(err)
	}
	return own
}

// mustList fails unless the block of the cluster lists these workspaces, and that of the other one is what it was.
func mustList(t *testing.T, after, own string, users ...string) {
	t.Helper()
	c, err := sshconfig.Read(own)
	if err != nil {
		t.Fatal(err)
	}
	namespace, ids, _ := sshconfig.Listed(c.Old, "")
	for i, id := range ids {
		ids[i] = id[:strings.LastIndex(id, "-")]
	}
	if got, want := strings.Join(ids, " "), strings.Join(users, " "); namespace != "team" || got != want {
		t.Errorf("after %s, the list of %q is %q, want %q", after, namespace, got, want)
	}
	if _, ids, _ := sshconfig.Listed(c.Old, "other"); strings.Join(ids, " ") != "eve-1" {
		t.Errorf("after %s, the list of another cluster is %q", after, ids)
	}
}

// The list of `berth ssh config --list` has each workspace that is made, however it is, and none that is deleted.
func TestHostsFollow(t *testing.T) {
	own := listed(t)
	mustList(t, "ssh config", own)
	for _, step := range []struct {
		line, stdin string
		status      int
		users       string
	}{
		{line: "provision alice~default --dry-run=client"},
		{line: "provision alice~default", users: "alice"},
		{line: "provision alice~default", status: 6, users: "alice"},
		{line: "provision -f - --no-wait", stdin: "alice~default\nbob~default\n", status: 6, users: "alice bob"},
		{line: "provision carol~default --update -o json", users: "alice bob carol"},
		{line: "exec dave~default --provision -- true", users: "alice bob carol dave"},
		{line: "provision erin~default -n elsewhere", users: "alice bob carol dave"},
		{line: "delete alice~default -n elsewhere --ignore-not-found", users: "alice bob carol dave"},
		{line: "delete alice~default --dry-run=client", users: "alice bob carol dave"},
		{line: "delete alice~default --no-wait", users: "bob carol dave"},
		{line: "delete bob~default nobody", status: 3, users: "carol dave"},
		{line: "delete --owner carol --yes -o jsonl", users: "dave"},
		{line: "ssh config --yes --start", users: "dave"},
		{line: "delete dave~default --keep-storage"},
		{line: "provision dave~default", users: "dave"},
	} {
		status, stdout, stderr := cmdtest.Run(t, step.stdin, strings.Fields(step.line)...)
		if status != step.status || strings.Contains(stderr, "configuration of ssh") {
			t.Fatalf("berth %s: %d, want %d\n%s\n%s", step.line, status, step.status, stdout, stderr)
		}
		mustList(t, step.line, own, strings.Fields(step.users)...)
	}
}

// A list that cannot be brought up to date is a warning, and the command has succeeded. Where there is no list, nothing
// is written.
func TestHostsThatCannotFollow(t *testing.T) {
	own := listed(t)
	lock := filepath.Join(filepath.Dir(own), ".lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	stdout, stderr := cmdtest.Must(t, 0, "provision", "alice~default", "-o", "json")
	if strings.Count(stderr, "warning: could not update the workspaces") != 1 ||
		strings.Contains(stdout, "warning") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	mustList(t, "a failure", own)
	if err := os.RemoveAll(filepath.Dir(own)); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"delete alice~default", "provision bob~default"} {
		if _, stderr := cmdtest.Must(t, 0, strings.Fields(line)...); strings.Contains(stderr, "warning") {
			t.Errorf("berth %s: %s", line, stderr)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(own)); err == nil {
		t.Errorf("%v is made", left)
	}
}
