package ssh_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/ssh"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *ssh.Options) {
		o.IO, o.Dir, o.LookPath, o.Executable, o.Become = terminal.Streams{}, nil, nil, nil, nil
		o.Workspaces, o.States, o.Through, o.Another = nil, nil, nil, nil
	}
	cmdtest.Options(t, ssh.NewCmd, forget, map[string]cmdtest.Case[ssh.Options]{
		"a shell": {Args: "alice", Want: ssh.Options{Workspace: "alice", Client: []string{}}},
		"what follows is the client's": {
			Args: "alice -L 8080:localhost:80 -N git --version",
			Want: ssh.Options{Workspace: "alice", Client: strings.Fields("-L 8080:localhost:80 -N git --version")},
		},
		"a command like a subcommand": {
			Args: "alice config",
			Want: ssh.Options{Workspace: "alice", Client: []string{"config"}},
		},
		"a host name": {
			Args: "root@alice-59936c3.look.berth id", Want: ssh.Options{
				Workspace: "alice-59936c3", Namespace: "look", Client: strings.Fields("-l root id"),
				Cluster: []string{"--namespace=look"}, Flags: []string{"--namespace look"},
			},
		},
		"a port": {
			Args: "--listen 127.0.0.1:0 alice",
			Want: ssh.Options{Workspace: "alice", Client: []string{}, Listen: "127.0.0.1:0"},
		},
		"a gateway": {
			Args: "--gateway office alice", Want: ssh.Options{
				Workspace: "alice", Client: []string{},
				Gateway: "office",
			},
		},
		"a port and a command":  {Args: "--listen 127.0.0.1:0 alice uname", Err: `"uname" cannot be passed on`},
		"a flag of berth after": {Args: "alice -N --context x", Err: "--context is no option of ssh"},
		"nothing":               {Args: "", Err: "requires a workspace"},
		"an option before":      {Args: "-L 80:localhost:80 alice", Err: "unknown shorthand flag"},
	})
}

// A port leads into a workspace: only users of this machine are to reach it.
func TestListensForThisMachineAlone(t *testing.T) {
	for address, says := range map[string]string{
		"0.0.0.0:0": "only this machine can reach, not 0.0.0.0", ":2222": "only this machine can reach",
		"[::]:22":        "not ::",
		"example.com:22": "not example.com", "2222": "is not ADDRESS:PORT",
	} {
		err := ssh.Run(t.Context(), &ssh.Options{Workspace: "alice", Listen: address})
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for line, want := range map[string]string{
		"":                              "|",
		"ls -l":                         "|ls -l",
		"-N":                            "-N|",
		"-L 1:h:2 -N ls -l":             "-L 1:h:2 -N|ls -l",
		"-vNL 1:h:2 ls":                 "-vNL 1:h:2|ls",
		"-L1:h:2 ls":                    "-L1:h:2|ls",
		"-oUser=x -o ForwardAgent=no":   "-oUser=x -o ForwardAgent=no|",
		"-t -- -l":                      "-t|-- -l",
		"-p":                            "-p|",
		"- x":                           "|- x",
		"-T -D 1080 -o Connect=15 bash": "-T -D 1080 -o Connect=15|bash",
	} {
		options, command := ssh.Split(strings.Fields(line))
		if got := strings.Join(options, " ") + "|" + strings.Join(command, " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// options are those of a run whose client records how it was called.
func options(t *testing.T, status int, called *[]string) *ssh.Options {
	t.Helper()
	dir := t.TempDir()
	return &ssh.Options{
		Workspace:  "alice~dev",
		Dir:        func() (string, error) { return dir, nil },
		LookPath:   func(string) (string, error) { return "/usr/bin/ssh", nil },
		Executable: func() (string, error) { return "/opt/my tools/berth", nil },
		Become: func(_ context.Context, program string, arguments []string) (int, error) {
			*called = append([]string{program}, arguments...)
			return status, nil
		},
	}
}

// The client is called so that no configuration and no key of the user's has a say, and what the user adds has the
// first.
func TestRun(t *testing.T) {
	var called []string
	o := options(t, 7, &called)
	o.Client, o.Cluster = []string{"-o", "User=bob", "uname"}, []string{"--context=a b"}
	err := ssh.Run(t.Context(), o)
	if status, ok := errors.AsType[cmdutil.ExitError](err); !ok || status != 7 {
		t.Errorf("%v, want status 7", err)
	}
	dir, _ := o.Dir()
	for _, want := range []string{
		`ProxyCommand "/opt/my tools/berth" ssh proxy "--context=a b" "--workspace=alice~dev" %n`,
		"User berth", `UserKnownHostsFile "` + filepath.ToSlash(filepath.Join(dir, "known_hosts")) + `"`,
		"StrictHostKeyChecking yes",
	} {
		if !slices.Contains(called, want) {
			t.Errorf("%q is not in %q", want, called)
		}
	}
	if want := []string{"/usr/bin/ssh", "-F", "none", "-o", "User=bob"}; !slices.Equal(called[:len(want)], want) {
		t.Errorf("%q", called)
	}
	if want := []string{"alice-59936c3.berth", "uname"}; !slices.Equal(called[len(called)-2:], want) {
		t.Errorf("%q", called)
	}
}

// A namespace behind the workspace is ssh's -n and a command: the proxy is told, should there be no such workspace.
func TestNamespaceBehind(t *testing.T) {
	for line, meant := range map[string]string{
		"-n look uname": "look", "-n": "", "-n /bin/true": "", "-N": "", "-v -n look": "look", "uname -n look": "",
	} {
		var called []string
		o := options(t, 0, &called)
		o.Client = strings.Fields(line)
		if err := ssh.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(called, " ")
		if got := strings.Contains(all, "--namespace-meant"); got != (meant != "") ||
			!strings.Contains(all, "--namespace-meant="+meant) && got {
			t.Errorf("%s: %s", line, all)
		}
	}
}

func TestRunWithoutClient(t *testing.T) {
	o := options(t, 0, new([]string))
	o.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	err := ssh.Run(t.Context(), o)
	if f := fault.From(err); err == nil || !strings.Contains(f.Hint, "berth exec alice~dev") {
		t.Errorf("%v", err)
	}
}
