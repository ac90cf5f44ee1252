//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/sshconfig"
)

// sshHost is a workspace as SSH clients know it.
type sshHost struct {
	*world
	host string // the name that the configuration leads to the proxy
	dir  string // of the clients, with the configuration and what they know
	user string
}

// ssh makes a workspace, and what clients are told about it. The words of the configuration are those that
// `berth ssh config` writes.
func (w *world) ssh(user string) *sshHost {
	w.Helper()
	w.must(0, "provision", user)
	h := &sshHost{world: w, dir: w.TempDir(), user: user}
	h.host = w.idOf(user) + "." + w.namespace + ".berth"
	key, err := sshconfig.HostKey(filepath.Join(h.dir, "berth", "ssh"))
	if err != nil {
		w.Fatal(err)
	}
	h.write(h.dir, "known_hosts", sshconfig.KnownHosts(key.PublicKey()))
	h.write(h.dir, "config", fmt.Sprintf(`Host *.berth
  ProxyCommand %s %%n
  User berth
  HostKeyAlias berth
  UserKnownHostsFile %s/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  UpdateHostKeys no
  PreferredAuthentications none
  IdentityFile none
  IdentitiesOnly yes
  Ciphers aes128-gcm@openssh.com,chacha20-poly1305@openssh.com
  ServerAliveInterval 0
`, h.proxy(), h.dir))
	return h
}

// proxy is the command that clients start, before the name of the host.
func (h *sshHost) proxy() string {
	return fmt.Sprintf("env XDG_CONFIG_HOME=%s KUBECONFIG=%s %s ssh proxy", h.dir, h.kubeconfig, binary)
}

// openSSH is OpenSSH's client with these arguments behind the host.
func (h *sshHost) openSSH(args ...string) *exec.Cmd {
	return exec.Command("ssh", append([]string{"-F", filepath.Join(h.dir, "config"), h.host}, args...)...)
}

// script runs a script here, in which $H is the host, $F the file of the configuration, $P the proxy, and $U the
// directory that it runs in.
func (h *sshHost) script(text string) result {
	h.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = h.TempDir()
	cmd.Env = append(os.Environ(), "H="+h.host, "F="+filepath.Join(h.dir, "config"), "P="+h.proxy()+" "+h.host,
		"U="+cmd.Dir, "HOME="+cmd.Dir, "KNOWN="+filepath.Join(h.dir, "known_hosts"), "TESTDATA="+h.testdata())
	return h.finish(cmd)
}

func (h *sshHost) testdata() string {
	dir, err := filepath.Abs("testdata/ssh")
	if err != nil {
		h.Fatal(err)
	}
	return dir
}

// connect is a client whose connection outlives what happens to the workspace.
func (h *sshHost) connect() *ssh.Client {
	h.Helper()
	words := strings.Fields(h.proxy() + " " + h.host)
	cmd := exec.Command(words[0], words[1:]...) //nolint:gosec // the test's own
	in, err := cmd.StdinPipe()
	if err != nil {
		h.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	conn, channels, requests, err := ssh.NewClientConn(&wire{pipes: pipes{out, in}}, "", &ssh.ClientConfig{
		User: "berth", HostKeyCallback: ssh.InsecureIgnoreHostKey(), //nolint:gosec // it is checked by OpenSSH's client
	})
	if err != nil {
		h.Fatal(err)
	}
	client := ssh.NewClient(conn, channels, requests)
	h.Cleanup(func() {
		_ = client.Close()
		_ = cmd.Wait()
	})
	return client
}

// output is what a command prints in a session of its own.
func (h *sshHost) output(client *ssh.Client, command string) (string, error) {
	h.Helper()
	s, err := client.NewSession()
	if err != nil {
		return "", err
	}
	out, err := s.Output(command)
	return string(out), err
}

// pipes are the streams of a process.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// wire is a connection through them.
type wire struct {
	net.Conn // has none of the other methods
	pipes
}

func (w *wire) Read(p []byte) (int, error)  { return w.pipes.Read(p) }
func (w *wire) Write(p []byte) (int, error) { return w.pipes.Write(p) }
func (w *wire) Close() error                { return w.pipes.Close() }
func (*wire) RemoteAddr() net.Addr          { return &net.UnixAddr{} }
func (*wire) LocalAddr() net.Addr           { return &net.UnixAddr{} }

// tools copies programs of this machine into the workspace, with what they need: its image has none but busybox.
func (h *sshHost) tools(programs ...string) {
	h.Helper()
	h.script("programs='"+strings.Join(programs, " ")+"'"+`
{
	for program in $programs; do
		at=$(readlink -f "$(PATH=/usr/bin:/bin command -v $program)")
		echo "$at"
		ldd "$at" | grep -o '/[^ ]*'
		case $program in
		git) ls /usr/bin/git-upload-pack /usr/bin/git-receive-pack ;;
		tmux) find /usr/lib/locale/C.utf8 /lib/terminfo /usr/share/terminfo -type f 2>/dev/null ;;
		python3)
			find /usr/lib/python3.* -name __pycache__ -prune -o -name test -prune -o \
				-name '*.py' -print -o -name '*.so' -print
			;;
		esac
	done
} | sort -u | tar -chf - -T - 2>/dev/null |
	ssh -F $F $H 'tar xf - -C / && `+
		`for at in /usr/bin/python3.[0-9]*; do [ ! -e "$at" ] || ln -sf "$at" /usr/bin/python3; done'
`).mustBe(h.world, 0)
}
