//go:build unix

package pod

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/skiptest"
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
	if err := os.WriteFile(filepath.Join(i.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil { //nolint:gosec // it is to be run
		i.t.Fatal(err)
	}
}

// enter runs the shell for a user, with HOME as the container has it, and gives what it
// says of itself.
func (i image) enter(user, workspaceHome, containerHome string) (stdout, stderr string) {
	i.t.Helper()
	command := Shell(user, workspaceHome)
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec // it is the shell
	cmd.Env = []string{"PATH=" + i.bin, "HOME=" + containerHome, "ENV=", "KEPT=yes"}
	cmd.Stdin = strings.NewReader(`echo "$PWD $HOME $USER $KEPT $BY"` + "\n")
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if err := cmd.Run(); err != nil {
		i.t.Errorf("%v: %s", err, cmd.Stderr)
	}
	return strings.TrimSpace(out.String()), strings.TrimSpace(err.String())
}

// What switches to another user. A fake one says who it would have switched to.
const (
	setpriv     = `[ "$1" = --help ] && { echo " --reuid <uid>"; exit; }; export BY="setpriv $1 $2 $3"; shift 3; exec "$@"`
	su          = `[ "$*" != "${*#-p -s /bin/sh -- dev -c }" ] || exit 9; export BY="su $5"; shift 5; exec /bin/sh "$@"`
	notAllowed  = `[ "$1" = --help ] && { echo --reuid; exit; }; echo "$0: not permitted" >&2; exit 1`
	busyboxPriv = `echo "Usage: setpriv [OPTIONS] PROG ARGS" >&2; exit 1`
)

func TestShellIsThatOfTheOSUser(t *testing.T) {
	for name, c := range map[string]struct {
		setup           func(i image)
		uid, me         string
		user            string
		ofWorkspace     bool // whether the workspace has a home directory
		wantBy, wantErr string
	}{
		"nobody is asked for":           {uid: "0", me: "root"},
		"with setpriv":                  {uid: "0", me: "root", user: "dev", setup: func(i image) { i.program("setpriv", setpriv) }, wantBy: "setpriv --reuid=1000 --regid=1000 --init-groups"},
		"with su":                       {uid: "0", me: "root", user: "dev", setup: func(i image) { i.program("su", su) }, wantBy: "su dev"},
		"with su beside busybox's":      {uid: "0", me: "root", user: "dev", setup: func(i image) { i.program("setpriv", busyboxPriv); i.program("su", su) }, wantBy: "su dev"},
		"where the workspace's home is": {uid: "0", me: "root", user: "dev", ofWorkspace: true, setup: func(i image) { i.program("su", su) }, wantBy: "su dev"},
		"they are it already":           {uid: "1000", me: "dev", user: "dev"},
		"the container is not root":     {uid: "1000", me: "app", user: "dev2", wantErr: "berth: not as user dev2: the image has no such user"},
		"another one, and not root":     {uid: "1001", me: "app", user: "dev", wantErr: "berth: not as user dev: the container runs as user 1001, and only root can switch"},
		"nothing to switch with":        {uid: "0", me: "root", user: "dev", wantErr: "berth: not as user dev: the image has neither setpriv nor su"},
		"not permitted":                 {uid: "0", me: "root", user: "dev", setup: func(i image) { i.program("setpriv", notAllowed) }, wantErr: "setpriv: not permitted"},
		"an option":                     {uid: "0", me: "root", user: "--help", wantErr: "berth: not as user --help: the image has no such user"},
		"a line of passwd":              {uid: "0", me: "root", user: "root:x", wantErr: "berth: not as user root:x: the image has no such user"},
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
			stdout, stderr := i.enter(c.user, workspace, container)
			user := ""
			if c.wantBy != "" {
				user = c.user
			}
			if want := strings.TrimSpace(home + " " + home + " " + user + " yes " + c.wantBy); stdout != want {
				t.Errorf("the shell is %q, want %q", stdout, want)
			}
			if c.wantErr == "" && stderr != "" || !strings.Contains(stderr, c.wantErr) {
				t.Errorf("stderr is %q, want %q", stderr, c.wantErr)
			}
		})
	}
}

// A home directory that is not there is said, and the shell starts all the same.
func TestShellWithoutHome(t *testing.T) {
	i := newImage(t).runsAs("0", "root")
	stdout, stderr := i.enter("", "", "/nonexistent/home")
	if stderr != "berth: cannot enter the home directory /nonexistent/home" || !strings.Contains(stdout, "/nonexistent/home") {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

// Comments are for those who read the script, and not sent with each session.
func TestShellIsSentWithoutComments(t *testing.T) {
	for line := range strings.Lines(Shell("", "")[2]) {
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
