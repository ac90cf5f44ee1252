package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

const recordings = "../watch/testdata/recordings/"

// printing are command lines of every command that prints on standard output: of
// each, if it has several.
func printing() []string {
	const id = "alice-a975fae"
	return []string{
		"", "--help", "--version", "help", "help exit-codes", "help user-strings", "help environment",
		"provision --help",
		"completion bash", "completion zsh", "completion fish", "completion powershell", "__complete status ",
		"version", "version -o json", "version -o yaml", "version -o jsonpath={.version}",
		"status", "status -o json", "status -o jsonl", "status -o name", "status --watch", "status --watch -o json",
		"status alice --history", "status alice", "status alice -o yaml", "status alice --watch",
		"logs alice", "logs alice --follow", "logs alice --all-containers",
		"exec alice -- true",
		"ssh config --print --context berth", "ssh config --dry-run --context berth",
		"ssh config --dry-run --context berth --output json", "ssh config --dry-run --context berth --output name",
		"ssh config --yes --list --output yaml", "ssh config --yes --remove --output jsonpath={.files[*].change}",
		"open --help", "cp --help", "port-forward --help", "volume --help",
		"doctor", "doctor -o json",
		"jobs", "jobs -o json", "jobs stats --by user", "jobs stats -o json",
		"resolve alice --offline", "resolve alice --offline -o json",
		"blueprint list", "blueprint list -o name", "blueprint show default", "blueprint show default -o json",
		"blueprint validate bp",
		"bundle validate shop", "bundle validate shop -o json", "bundle template shop", "bundle definitions",
		"serve manifests bundles",
		"serve manifests volumes",
		"diagnose -f recording.jsonl", "diagnose pod/" + id + "", "diagnose pod/" + id + " -o json",
		"explain", "explain -o wide", "explain -o json", "explain CrashLoop", "explain CrashLoop -o json",
		"explain errimagepull -o name",
		"update alice --dry-run=client", "update alice -o json",
		"stop alice -o json", "start alice -o json", "restart alice -o name",
		"reconcile --full --trust-records -o json", "reconcile --trust-records -o jsonpath={.kind}",
		"delete nosuch -o json", "delete nosuch --ignore-not-found -o json", "delete alice --dry-run=client",
		"provision alice -o json", "provision alice -o jsonl", "provision alice~default+user=root --dry-run=client",
	}
}

// one is a cluster with a workspace that runs, and a directory of blueprints, bp.
func one(t *testing.T) {
	t.Helper()
	recording, err := filepath.Abs(recordings + "crashloop-exit1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	cmdtest.Offline(t)
	t.Chdir(t.TempDir())
	if err := os.Symlink(recording, "recording.jsonl"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("bp", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bp/team.yaml", []byte("blueprints: [{name: team, template: base}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("shop/manifests", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("shop/manifests/all.yaml",
		[]byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: shop}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice")
}

// What cannot be written is an error that names the stream, of every command that
// prints: 1, or 125 of exec.
func TestFullOutput(t *testing.T) {
	one(t)
	full := cmdtest.Broken{Err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}}
	for _, line := range printing() {
		args := strings.Fields(line)
		want := 1
		if strings.HasPrefix(line, "exec") {
			want = 125
		}
		status, _, stderr := cmdtest.RunInto(t, full, nil, args...)
		if status != want || strings.Count(stderr, "cannot write to standard output: no space left on device") != 1 {
			t.Errorf("berth %s: status %d, want %d\n%s", line, status, want, stderr)
		}
	}
}

// A reader that has read enough, such as head, is no error: the command ends as one
// that SIGPIPE has ended, which is what kubectl, helm and gh do.
func TestClosedOutput(t *testing.T) {
	one(t)
	closed := cmdtest.Broken{Err: &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}}
	for _, line := range printing() {
		status, _, stderr := cmdtest.RunInto(t, closed, nil, strings.Fields(line)...)
		if status != 141 || strings.Contains(stderr, "write") {
			t.Errorf("berth %s: status %d, want 141\n%s", line, status, stderr)
		}
	}
}

// What cannot be written to standard error cannot be reported either, but counts.
func TestFullErrorOutput(t *testing.T) {
	one(t)
	full := cmdtest.Broken{Err: syscall.ENOSPC}
	for line, want := range map[string]int{
		"delete nosuch --ignore-not-found": 1, // a remark
		"provision alice":                  1, // dated lines
		"status nosuch":                    7, // is what the user wants to know
		"version":                          0,
	} {
		if status, _, _ := cmdtest.RunInto(t, nil, full, strings.Fields(line)...); status != want {
			t.Errorf("berth %s: status %d, want %d", line, status, want)
		}
	}
}

// The list above has every command.
func TestEveryCommandPrints(t *testing.T) {
	for _, command := range commands.Tree().Commands() {
		if command.Name() == "help" || !command.IsAvailableCommand() {
			continue
		}
		found := false
		for _, line := range printing() {
			found = found || strings.HasPrefix(line+" ", command.Name()+" ")
		}
		if !found {
			t.Errorf("berth %s is not tested", command.Name())
		}
	}
}
