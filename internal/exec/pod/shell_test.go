//go:build unix

package pod

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/skiptest"
	"github.com/berthdev/berth/internal/userstring"
)

// image is a container's root as far as the script of the shell looks at it: programs
// that are first in PATH, and directories.
type image struct {
	t    *testing.T
	bin  string
	home string
}

func newImage(t *testing.T) image {
	t.Helper()
	i := image{t: t, bin: t.TempDir(), home: t.TempDir()}
	for _, name := range []string{"cat", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			skiptest.Lacks(t, "%v", err)
		}
		if err := os.Symlink(path, filepath.Join(i.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	i.program("getent", `[ "$2" = dev ] && echo "dev:x:1000:1000:Developer:`+i.home+`:/bin/sh"`)
	return i
}

// runsAs makes id say who the container's user is.
func (i image) runsAs(uid, name string) image {
	i.program("id", `case $1 in -u) echo `+uid+`;; -un) echo `+name+`;; esac`)
	return i
}

func (i image) program(name, script string) {
	i.t.Helper()
	if err := os.WriteFile(filepath.Join(i.bin, name), []byte("#!/bin/sh\n"+script+"\n"),
		0o755); err != nil { //nolint:gosec // it is to be run
		i.t.Fatal(err)
	}
}

// enter runs the shell for a user, with HOME as the container has it, or a command instead,
// and gives what it says of itself. Status is how it has to end.
func (i image) enter(user, workspaceHome, containerHome string, status int, command ...string) (stdout, stderr string) {
	i.t.Helper()
	login := Login{User: user, Home: workspaceHome, Container: "main"}
	if command = login.Command(command); user == "" || len(command) == len(login.Shell()) {
		command = login.Shell()
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec // it is the shell
	cmd.Env = []string{"PATH=" + i.bin, "HOME=" + containerHome, "ENV=", "KEPT=yes"}
	cmd.Stdin = strings.NewReader(`echo "$PWD $HOME $USER $KEPT $BY"` + "\n")
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		i.t.Errorf("%v, want status %d: %s", err, status, cmd.Stderr)
	}
	return strings.TrimSpace(out.String()), strings.TrimSpace(err.String())
}

// What switches to another user. A fake one says who it would have switched to.
const (
	setpriv = `[ "$1" = --help ] && { echo " --reuid <uid>"; exit; }; export BY="setpriv $1 $2 $3"; ` +
		`shift 3; exec "$@"`
	su          = `[ "$*" != "${*#-p -s /bin/sh -- dev -c }" ] || exit 9; export BY="su $5"; shift 5; exec /bin/sh "$@"`
	notAllowed  = `[ "$1" = --help ] && { echo --reuid; exit; }; echo "$0: not permitted" >&2; exit 1`
	busyboxPriv = `echo "Usage: setpriv [OPTIONS] PROG ARGS" >&2; exit 1`
)

// Over SSH it is said as one writes it there; what a shell would run is left out.
func TestAsOwnUser(t *testing.T) {
	for as, want := range map[string]string{
		"":                         `user=$own)"`,
		"ssh $own@alice-1.berth":   `ssh $own@alice-1.berth)"`,
		"ssh $own@$(reboot)":       `user=$own)"`,
		"ssh $own@`reboot`":        `user=$own)"`,
		"ssh $own@\"; reboot; \"x": `user=$own)"`,
	} {
		if text := (Login{AsOwn: as}).Shell()[2]; !strings.Contains(text, "its own user is $own: "+want) {
			t.Errorf("%q: %s", as, text)
		}
	}
}

func TestShellIsThatOfTheOSUser(t *testing.T) {
	for name, c := range map[string]struct {
		setup           func(i image)
		uid, me         string
		user            string
		ofWorkspace     bool // whether the workspace has a home directory
		wantBy, wantErr string
	}{
		"nobody is asked for": {uid: "0", me: "root"},
		"with setpriv": {
			uid: "0", me: "root", user: "dev",
			setup:  func(i image) { i.program("setpriv", setpriv) },
			wantBy: "setpriv --reuid=1000 --regid=1000 --init-groups",
		},
		"with su": {
			uid: "0", me: "root", user: "dev", setup: func(i image) { i.program("su", su) },
			wantBy: "su dev",
		},
		"with su beside busybox's": {
			uid: "0", me: "root", user: "dev",
			setup: func(i image) { i.program("setpriv", busyboxPriv); i.program("su", su) }, wantBy: "su dev",
		},
		"where the workspace's home is": {
			uid: "0", me: "root", user: "dev", ofWorkspace: true,
			setup: func(i image) { i.program("su", su) }, wantBy: "su dev",
		},
		"they are it already":   {uid: "1000", me: "dev", user: "dev"},
		"they are it by number": {uid: "1000", me: "1000", user: "1000"},
		"the image has no such user": {
			uid: "1000", me: "app", user: "dev2",
			wantErr: "berth: cannot enter container main as user dev2: no such user in the container (its own user " +
				"is app: user=app)",
		},
		"another one, and not root": {
			uid: "1001", me: "app", user: "dev",
			wantErr: "as user dev: only root can switch users there (its own user is app: user=app)",
		},
		"nothing to switch with": {
			uid: "0", me: "root", user: "dev",
			wantErr: "as user dev: the image has neither setpriv nor su",
		},
		"not permitted": {
			uid: "0", me: "root", user: "dev",
			setup: func(i image) { i.program("setpriv", notAllowed) }, wantErr: "setpriv: not permitted",
		},
		"an option": {
			uid: "0", me: "root", user: "--help",
			wantErr: "as user --help: no such user in the container",
		},
		"a line of passwd": {
			uid: "0", me: "root", user: "root:x",
			wantErr: "as user root:x: no such user in the container",
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := newImage(t).runsAs(c.uid, c.me)
			if c.setup != nil {
				c.setup(i)
			}
			container, workspace := t.TempDir(), ""
			home := container
			if c.wantBy != "" {
				home = i.home
			}
			if c.ofWorkspace {
				workspace = t.TempDir()
				home = workspace
			}
			status := 0
			if c.wantErr != "" {
				status, home = 125, ""
			}
			stdout, stderr := i.enter(c.user, workspace, container, status)
			user := ""
			if c.wantBy != "" {
				user = c.user
			}
			want := strings.TrimSpace(home + " " + home + " " + user + " yes " + c.wantBy)
			if status != 0 {
				want = ""
			}
			if stdout != want {
				t.Errorf("the shell is %q, want %q", stdout, want)
			}
			if c.wantErr == "" && stderr != "" || !strings.Contains(stderr, c.wantErr) {
				t.Errorf("stderr is %q, want %q", stderr, c.wantErr)
			}
		})
	}
}

// A command is the user's as the shell is, with its arguments as they are; or it is not run.
func TestCommandIsThatOfTheOSUser(t *testing.T) {
	const says = `echo "$USER $BY $0 $1"; exit 3`
	i := newImage(t).runsAs("0", "root")
	if _, stderr := i.enter("dev", "", "/", 125, "sh", "-c", says, "a b", "--c"); !strings.Contains(stderr,
		"neither setpriv nor su") {
		t.Errorf("without anything to switch with: %q", stderr)
	}
	i.program("su", su)
	if stdout, stderr := i.enter("dev", "", "/", 3, "sh", "-c", says, "a b", "--c"); stdout != "dev su dev a b --c" ||
		stderr != "" {
		t.Errorf("with su: %q, %q", stdout, stderr)
	}
	i.program("setpriv", setpriv)
	if stdout, stderr := i.enter("dev", "", "/", 3, "sh", "-c", says, "a b",
		"--c"); stdout != "dev setpriv --reuid=1000 --regid=1000 --init-groups a b --c" || stderr != "" {
		t.Errorf("with setpriv: %q, %q", stdout, stderr)
	}
	if stdout, stderr := i.enter("root", "", "/", 3, "sh", "-c", says, "a b", "--c"); !strings.HasSuffix(stdout,
		"a b --c") || stderr != "" {
		t.Errorf("as who they are: %q, %q", stdout, stderr)
	}
}

// The home directory of a command is the workspace's where the user may write to it, and else
// their own.
func TestHomeOfACommand(t *testing.T) {
	workspace := t.TempDir()
	for name, c := range map[string]struct {
		home string
		own  bool
	}{
		"the workspace's":                    {home: workspace},
		"somebody else's":                    {home: filepath.Join(workspace, "none"), own: true},
		"not known, as in another container": {own: true},
	} {
		t.Run(name, func(t *testing.T) {
			i := newImage(t).runsAs("0", "root")
			i.program("su", su)
			want := c.home
			if c.own {
				want = i.home
			}
			if stdout, stderr := i.enter("dev", c.home, "/", 0, "sh", "-c", `echo "$HOME $1"`, "sh",
				"a b"); stdout != want+
				" a b" || stderr != "" {
				t.Errorf("%q, %q", stdout, stderr)
			}
		})
	}
}

// The user that is asked for wins over the workspace's own user, whose the shell is and no command; of
// another container neither is known.
func TestLoginIn(t *testing.T) {
	pod := replica("a")
	pod.Annotations = map[string]string{kube.AnnotationUserString: userstring.ToAnnotation("alice~dev+user=own")}
	main := Request{Container: kube.MainContainer(pod.Labels)}
	ls := []string{"ls"}
	for name, c := range map[string]struct {
		in             Request
		user           string
		shell, command string
	}{
		"nobody":                      {main, "", "own", ""},
		"somebody":                    {main, "dev", "dev", "dev"},
		"somebody elsewhere":          {Request{Container: "web"}, "dev", "dev", "dev"},
		"nobody in another container": {Request{Container: "web"}, "", "", ""},
	} {
		l := LoginIn(pod, c.in, c.user)
		if got := l.Shell()[4]; got != c.shell {
			t.Errorf("%s: the shell is that of %q, want %q", name, got, c.shell)
		}
		command := l.Command(ls)
		if c.command == "" && !slices.Equal(command, ls) || c.command != "" &&
			(command[4] != c.command || command[7] != "ls") {
			t.Errorf("%s: the command is %q", name, command)
		}
	}
}

// A home directory that is not there is said, and the shell starts all the same.
func TestShellWithoutHome(t *testing.T) {
	i := newImage(t).runsAs("0", "root")
	stdout, stderr := i.enter("", "", "/nonexistent/home", 0)
	if stderr != "berth: cannot enter the home directory /nonexistent/home" ||
		!strings.Contains(stdout, "/nonexistent/home") {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

// Comments are for those who read the script, and not sent with each session.
func TestShellIsSentWithoutComments(t *testing.T) {
	for line := range strings.Lines(Login{}.Shell()[2]) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			t.Errorf("%q is sent", line)
		}
	}
}

// The home of a container is what its HOME says.
func TestHome(t *testing.T) {
	pod := replica("a")
	pod.Spec.Containers[1].Env = []corev1.EnvVar{{Name: "PATH", Value: "/bin"}, {Name: "HOME", Value: "/home/dev"}}
	if got := Home(pod, "alice-2bd806c-k8shell-main"); got != "/home/dev" {
		t.Errorf("%q", got)
	}
	if got := Home(pod, "web"); got != "" {
		t.Errorf("%q of a container without one", got)
	}
}
