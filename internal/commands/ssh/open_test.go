package ssh_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/ssh"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/skiptest"
)

// A workspace is opened in the editor that is there, by a host name that the configuration of ssh knows.
func TestOpen(t *testing.T) {
	cmdtest.Offline(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("BERTH_EDITOR", "")
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice")
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	_, says := cmdtest.Must(t, 3, "open", "alice", "--yes")
	if !strings.Contains(says, "looked for code, code-insiders, cursor") {
		t.Error(says)
	}
	for _, by := range []string{
		"Install 'code' command", "berth ssh config", "the host alice-a975fae.",
		"vscode://vscode-remote/ssh-remote+alice-a975fae.", "a shell: berth ssh alice",
	} {
		if !strings.Contains(strings.Join(strings.Fields(says), " "), by) {
			t.Errorf("without an editor, %q is not said: %s", by, says)
		}
	}
	skiptest.OnWindows(t, "the editors of this test are scripts of a shell")
	called := filepath.Join(t.TempDir(), "called")
	for _, name := range []string{"zeditor", "cursor"} {
		editor(t, filepath.Join(bin, name), name, called)
	}
	for _, test := range []struct{ arguments, says, want string }{
		{"open alice --yes", "+Host *.berth", "cursor --remote ssh-remote+alice-a975fae.NAMESPACE.berth\n"},
		{"open alice /src", "", "cursor --remote ssh-remote+alice-a975fae.NAMESPACE.berth /src\n"},
		{"open alice /src --editor zed", "", "zeditor ssh://alice-a975fae.NAMESPACE.berth/src\n"},
	} {
		out, _ := cmdtest.Must(t, 0, strings.Fields(test.arguments)...)
		if got := anyNamespace(contents(t, called)); got != test.want || !strings.Contains(out, test.says) ||
			test.says == "" && out != "" {
			t.Errorf("%s: %q, want %q\n%s", test.arguments, got, test.want, out)
		}
	}
	editor(t, filepath.Join(bin, "xdg-open"), "xdg-open", called)
	cmdtest.Must(t, 0, "open", "alice", "/my src", "--editor", "idea")
	want := "xdg-open " +
		"jetbrains-gateway://connect#type=ssh&deploy=true&host=alice-a975fae.NAMESPACE.berth&port=22&user=berth" +
		"&projectPath=%2Fmy%20src\n"
	if got := anyNamespace(contents(t, called)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	t.Setenv("BERTH_EDITOR", "zed")
	cmdtest.Must(t, 0, "open", "alice")
	if got := anyNamespace(contents(t, called)); got != "zeditor ssh://alice-a975fae.NAMESPACE.berth/\n" {
		t.Errorf("%q", got)
	}
	if _, says := cmdtest.Must(t, 3, "open", "alice", "--editor", "windsurf"); !strings.Contains(says,
		"looked for windsurf") {
		t.Error(says)
	}
	t.Setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
	if _, says := cmdtest.Must(t, 3, "open", "alice"); !strings.Contains(says, "run this on your own machine") {
		t.Error(says)
	}
}

// Without an editor, what leads to the workspace by hand is said: that it runs is not needed, and no host is named that
// leads to another cluster.
func TestOpenByHand(t *testing.T) {
	cmdtest.Offline(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SSH_CONNECTION", "")
	t.Setenv("BERTH_EDITOR", "")
	server := kubetest.Start(t, nil).URL
	cmdtest.Cluster(t, server)
	cmdtest.Must(t, 0, "provision", "alice")
	t.Setenv("PATH", t.TempDir())
	const host, shell = "vscode://vscode-remote/ssh-remote+alice-a975fae.team.berth", "; a shell: berth ssh alice"
	first := func() { cmdtest.Must(t, 0, "ssh", "config", "--yes") }
	for _, test := range []struct {
		name   string
		before func()
		path   string
		want   string
		config bool
	}{
		{"no path", func() {}, "", host + shell, true},
		{"a path with a space", func() {}, "/my src", host + "/my%20src" + shell, true},
		{"it is stopped", func() { cmdtest.Must(t, 0, "stop", "alice") }, "", host + shell, true},
		{"the configuration leads here", first, "", host + shell, false},
		{
			"the configuration leads to another cluster", func() { cmdtest.Cluster(t, server) }, "",
			"by hand: add this one under a name: berth ssh config --name NAME", true,
		},
	} {
		test.before()
		arguments := []string{"open", "alice"}
		if test.path != "" {
			arguments = append(arguments, test.path)
		}
		_, says := cmdtest.Must(t, 3, arguments...)
		says = strings.Join(strings.Fields(says), " ")
		if !strings.Contains(says, test.want) || !strings.Contains(says, shell) ||
			strings.Contains(says, host) != strings.Contains(test.want, host) ||
			strings.Contains(says, "berth ssh config") != test.config {
			t.Errorf("%s: %s", test.name, says)
		}
	}
}

// anyNamespace leaves out which namespace the cluster of the test has.
func anyNamespace(text string) string {
	before, rest, ok := strings.Cut(text, "alice-a975fae.")
	if !ok {
		return text
	}
	_, after, _ := strings.Cut(rest, ".")
	return before + "alice-a975fae.NAMESPACE." + after
}

func TestOpenOptions(t *testing.T) {
	forget := func(o *ssh.OpenOptions) { *o = ssh.OpenOptions{Workspace: o.Workspace, Path: o.Path, Editor: o.Editor} }
	cmdtest.Options(t, ssh.NewOpenCmd, forget, map[string]cmdtest.Case[ssh.OpenOptions]{
		"a workspace": {Args: "alice", Want: ssh.OpenOptions{Workspace: "alice"}},
		"all": {Args: "alice /src --editor zed", Want: ssh.OpenOptions{
			Workspace: "alice", Path: "/src",
			Editor: "zed",
		}},
		"nothing":         {Args: "", Err: "requires one workspace"},
		"a relative path": {Args: "alice src", Err: "must be absolute"},
		"another editor":  {Args: "alice --editor vi", Err: "must be one of"},
	})
}

// editor is a stand-in that records how it was called.
func editor(t *testing.T, at, name, called string) {
	t.Helper()
	script := "#!/bin/sh\necho " + name + " \"$*\" >" + called + "\n"
	if err := os.WriteFile(at, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
}
