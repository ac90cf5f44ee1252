package git

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// key makes one of a key pair's two sides in a file, and the other to use.
func key(t *testing.T) (file string, signer ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	if signer, err = ssh.NewSignerFromKey(private); err != nil {
		t.Fatal(err)
	}
	return file, signer
}

// sshServer runs what a client with the key asks it to run.
func sshServer(t *testing.T, host ssh.Signer, user ssh.PublicKey) (address string) {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions,
		error,
	) {
		if !slices.Equal(offered.Marshal(), user.Marshal()) {
			return nil, errors.New("another key")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(conn, config)
		}
	}()
	return listener.Addr().String()
}

func serveSSH(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for opened := range channels {
		channel, requests, err := opened.Accept()
		if err != nil {
			return
		}
		go func() {
			for request := range requests {
				if request.Type != "exec" {
					_ = request.Reply(request.Type == "env", nil)
					continue
				}
				var asked struct{ Command string }
				_ = ssh.Unmarshal(request.Payload, &asked)
				_ = request.Reply(true, nil)
				cmd := exec.Command("/bin/sh", "-c", asked.Command) //nolint:gosec // that is what it is for
				cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
				stdin, _ := cmd.StdinPipe()
				go func() { _, _ = io.Copy(stdin, channel); _ = stdin.Close() }()
				_ = cmd.Run()
				status := struct{ Code uint32 }{uint32(cmd.ProcessState.ExitCode())} //nolint:gosec // 0 to 255
				_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
				_ = channel.Close()
			}
		}()
	}
}

// The user's own SSH client reads a repository from a real server. A host whose key is not known is not asked, nor is
// one that has another key than it had.
func TestFetchOverSSH(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		skiptest.Lacks(t, "remotes behind SSH are read with the Debian package openssh-client, which is not installed")
	}
	root, _ := repositories(t)
	mine, signer := key(t)
	other, otherSigner := key(t)
	address := sshServer(t, otherSigner, signer.PublicKey())
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	knownAs := "[" + host + "]:" + port
	known := func(key ssh.PublicKey) string { return knownAs + " " + string(ssh.MarshalAuthorizedKey(key)) }
	for name, test := range map[string]struct {
		key, knownHosts, repository string
		code                        fault.Code
		says, hint                  string
	}{
		"success": {mine, known(otherSigner.PublicKey()), "org/proj", "", "", ""},
		"an unknown host": {
			mine, "", "org/proj", fault.Unauthenticated, "the SSH host key of " + address + " is unknown",
			"`ssh -T -p " + port + " git@" + host + "`",
		},
		"another host key": {
			mine, known(signer.PublicKey()), "org/proj", fault.Unauthenticated,
			"the SSH host key of " +
				address + " has changed", "ssh-keygen -R '" + knownAs + "'",
		},
		"another key": {
			other, known(otherSigner.PublicKey()), "org/proj", fault.Unauthenticated,
			"accepted none of your SSH keys for repository " + address + root + "/org/proj", "ssh-add",
		},
		"no repository": {mine, known(otherSigner.PublicKey()), "org/none", fault.NotFound, "repository " + address +
			root + "/org/none not found", "check the spelling"},
	} {
		t.Run(name, func(t *testing.T) {
			knownHosts := filepath.Join(t.TempDir(), "known_hosts")
			if err := os.WriteFile(knownHosts, []byte(test.knownHosts), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GIT_SSH_COMMAND", "ssh -F none -o GlobalKnownHostsFile=none -o IdentityAgent=none -o "+
				"IdentitiesOnly=yes"+
				" -o UserKnownHostsFile="+knownHosts+" -i "+test.key)
			remote := remoteAt(t, "ssh://git@"+address+root+"/"+test.repository+".git")
			remote.SSH = SSHCommand(os.Getenv)
			got, _, err := read(t, remote)
			if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%s: %v", fault.CodeOf(err), err)
			}
			if err == nil && got != "two\n" {
				t.Errorf("%q", got)
			}
			if err != nil && !strings.Contains(fault.From(err).Hint, test.hint) {
				t.Errorf("the hint is %q", fault.From(err).Hint)
			}
			if after, _ := os.ReadFile(knownHosts); string(after) != test.knownHosts {
				t.Errorf("the host is known now: %s", after)
			}
		})
	}
}

// The client fails before it reaches the repository.
func TestSSHClientFails(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		code   fault.Code
		says   string
	}{
		"no connection": {`printf 'banner\nssh: connect to host git.example.com port 22: Connection ` +
			`\033[31mrefused\r\n' >&2; exit 255`, fault.Unavailable, "port 22: Connection [31mrefused"},
		"no message":        {"exit 255", fault.Unavailable, "repository git.example.com/org/proj: "},
		"unexpected output": {"echo welcome; exit 0", fault.Unavailable, "repository git.example.com/org/proj: "},
		"message of GitHub": {
			`echo 'ERROR: Repository not found.' >&2; exit 1`, fault.NotFound,
			"repository git.example.com/org/proj not found",
		},
		"message of a server": {
			`echo 'Host key verification failed.' >&2; exit 1`, fault.Unavailable,
			"repository git.example.com/org/proj: Host key verification failed.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			program(t, "ssh", test.script)
			_, err := remoteAt(t, "ssh://git.example.com/org/proj").Fetch(t.Context(), "")
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) ||
				fault.From(err).Hint == "" {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
		})
	}
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := remoteAt(t, "ssh://git.example.com/org/proj").Fetch(t.Context(), "")
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(),
			"ssh, which is not installed") ||
			!strings.Contains(fault.From(err).Hint, "the image of berth does not have") {
			t.Errorf("%s: %v", fault.CodeOf(err), err)
		}
	})
}

// A remote that does not have the commit may exit before it has read the request.
func TestRemoteExitsEarly(t *testing.T) {
	root, _ := repositories(t)
	missing := strings.Repeat("ab", 20)
	script := "exec <&-; git upload-pack --advertise-refs " + root +
		"/org/proj.git; echo 'fatal: git upload-pack: not our ref " + missing + "' >&2; exit 128"
	program(t, "ssh", script)
	program(t, "git-upload-pack", script)
	for _, address := range []string{"ssh://git.example.com/org/proj", "file:///org/proj"} {
		_, err := remoteAt(t, address).Fetch(t.Context(), missing)
		if fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "no branch, tag or commit") {
			t.Errorf("%s: %s: %v", address, fault.CodeOf(err), err)
		}
	}
	for _, part := range []string{"upload-req", "haves", "done"} {
		cut := errors.New("sending " + part + " message: write |1: broken pipe")
		if err := remoteAt(t, "file:///org/proj").fault(t.Context(), cut,
			missing); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func TestSSHArguments(t *testing.T) {
	for address, want := range map[string][]string{
		"ssh://git@git.example.com/org/proj.git": {"--", "git@git.example.com", "git-upload-pack '/org/proj.git'"},
		"ssh://git.example.com:2222/org/proj": {
			"-p", "2222", "--", "git.example.com",
			"git-upload-pack '/org/proj'",
		},
		"ssh://git@[::1]/org/proj":          {"--", "git@::1", "git-upload-pack '/org/proj'"},
		"ssh://git.example.com/~alice/proj": {"--", "git.example.com", "git-upload-pack '~alice/proj'"},
		"ssh://-oProxyCommand=x/it's%20a!b": {"--", "-oProxyCommand=x", `git-upload-pack '/it'\''s a'\!'b'`},
	} {
		remote, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		want = append([]string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"}, want...)
		if got := sshArguments(remote); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
