package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// SSHCommand is the client that git would run: the user's own, which knows their hosts, agent, keys and jumps.
func SSHCommand(getenv func(string) string) []string {
	if command := getenv("GIT_SSH_COMMAND"); command != "" {
		return []string{"sh", "-c", command + ` "$@"`, "ssh"}
	}
	return []string{"ssh"}
}

// sshArguments run git-upload-pack on the remote without prompting for a passphrase or the trust in an unknown host.
func sshArguments(remote *url.URL) []string {
	args := []string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"}
	if port := remote.Port(); port != "" {
		args = append(args, "-p", port)
	}
	path := remote.Path
	if strings.HasPrefix(path, "/~") {
		path = path[1:] // below a home directory
	}
	// Quoted as git does it, for any shell on the other end.
	quoted := "'" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(path) + "'"
	return append(args, "--", sshDestination(remote), transport.UploadPackServiceName+" "+quoted)
}

// sshDestination leaves the user to the client's configuration if the URL has none.
func sshDestination(remote *url.URL) string {
	if name := remote.User.Username(); name != "" {
		return name + "@" + remote.Hostname()
	}
	return remote.Hostname()
}

// sshSession is git-upload-pack at the other end of an SSH client.
type sshSession struct {
	remote     Remote
	cmd        *exec.Cmd
	kill       context.CancelFunc
	stdin      io.WriteCloser
	stdout     *bufio.Reader
	stderr     *tail
	advertised *packp.AdvRefs
}

// sshWaitDelay is how long the client may take to exit, and how long a shared connection that it leaves behind may keep
// its output open.
const sshWaitDelay = time.Second

// openSSH starts the client, which the end of the context kills.
func (r Remote) openSSH(ctx context.Context) (session, error) {
	ctx, kill := context.WithCancel(ctx)
	words := slices.Concat(r.SSH, sshArguments(r.URL))
	s := &sshSession{remote: r, kill: kill, stderr: &tail{}, cmd: exec.CommandContext(ctx, words[0], words[1:]...)}
	s.cmd.Env = append(s.cmd.Environ(), "SSH_ASKPASS_REQUIRE=never")
	s.cmd.Stderr = s.stderr
	s.cmd.WaitDelay = sshWaitDelay
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		// A child of the client may outlive it and keep the pipe open.
		context.AfterFunc(ctx, func() { _ = stdout.Close() })
		s.stdout = bufio.NewReader(counted(ctx, http.MaxBytesReader(nil, stdout, r.Limits.Transfer)))
		s.stdin, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		kill()
		return nil, r.sshStartFault(err)
	}
	return s, nil
}

// AdvertisedReferencesContext reads the branches and tags.
func (s *sshSession) AdvertisedReferencesContext(context.Context) (*packp.AdvRefs, error) {
	advertised := packp.NewAdvRefs()
	err := advertised.Decode(s.stdout)
	if errors.Is(err, packp.ErrEmptyAdvRefs) || err == nil && advertised.IsEmpty() {
		return nil, transport.ErrEmptyRemoteRepository
	}
	if err != nil {
		return nil, s.exited(err)
	}
	transport.FilterUnsupportedCapabilities(advertised.Capabilities)
	s.advertised = advertised
	return advertised, nil
}

// UploadPack asks for a pack.
func (s *sshSession) UploadPack(_ context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse,
	error,
) {
	err := request.UploadRequest.Encode(s.stdin)
	if err == nil {
		err = request.UploadHaves.Encode(s.stdin, true)
	}
	if err == nil {
		err = pktline.NewEncoder(s.stdin).EncodeString("done\n")
	}
	response := packp.NewUploadPackResponse(request)
	if err == nil {
		err = response.Decode(io.NopCloser(s.stdout))
	}
	if err != nil {
		return nil, s.exited(err)
	}
	return response, nil
}

// Close ends the conversation and waits briefly for the client to exit.
func (s *sshSession) Close() error {
	_ = pktline.NewEncoder(s.stdin).Flush() // a flush packet: nothing more is wanted
	_ = s.stdin.Close()
	late := time.AfterFunc(sshWaitDelay, s.kill)
	defer late.Stop()
	_ = s.cmd.Wait()
	s.kill()
	return nil
}

// exited waits for the client and explains err by its exit status and stderr.
func (s *sshSession) exited(err error) error {
	_ = s.stdin.Close()
	_ = s.cmd.Wait()
	const ownFailure = 255 // of OpenSSH; other statuses are the remote command's
	return s.remote.sshFault(err, s.cmd.ProcessState.ExitCode() == ownFailure, s.stderr.String())
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const maxTail = 8 << 10 // bytes

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.text)) }

// SSHKey is a client that logs in with one key and nothing else of the user's: no agent, no other key, no
// configuration. Without known hosts, those of the user and the machine are known; insecure trusts every host. The key
// is in a private directory until remove is called.
func SSHKey(privateKey, knownHosts []byte, insecure bool) (command []string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "berth-ssh-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	key, known := filepath.Join(dir, "key"), filepath.Join(dir, "known_hosts")
	// Without the newline at its end, OpenSSH takes a key for none.
	err = os.WriteFile(key, append(bytes.TrimRight(privateKey, "\r\n "), '\n'), 0o600)
	if err == nil {
		err = os.WriteFile(known, append(knownHosts, '\n'), 0o600)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	command = []string{
		"ssh", "-F", "none", "-i", key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
		"-o", "PreferredAuthentications=publickey", "-o", "ControlPath=none", "-o", "ForwardAgent=no",
	}
	switch {
	case insecure:
		command = append(command, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+os.DevNull, "-o",
			"GlobalKnownHostsFile="+os.DevNull)
	case len(bytes.TrimSpace(knownHosts)) > 0:
		command = append(command, "-o", `UserKnownHostsFile="`+known+`"`, "-o", "GlobalKnownHostsFile="+os.DevNull)
	}
	return command, remove, nil
}
