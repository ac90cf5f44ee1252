package identity

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// sshProgram is what git runs for remotes behind SSH: the user's own client, that
// knows their hosts, agent, keys and jumps.
func sshProgram(getenv func(string) string) []string {
	if command := getenv("GIT_SSH_COMMAND"); command != "" {
		return []string{"sh", "-c", command + ` "$@"`, "ssh"}
	}
	return []string{"ssh"}
}

// sshArguments ask for the repository without asking anybody else: neither for a
// passphrase nor whether the key of an unknown host is to be trusted.
func sshArguments(remote *url.URL) []string {
	args := []string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"}
	if port := remote.Port(); port != "" {
		args = append(args, "-p", port)
	}
	path := remote.Path
	if strings.HasPrefix(path, "/~") {
		path = path[1:] // below somebody's home directory
	}
	// Quoted as git does it, for any shell that may stand at the other end.
	quoted := "'" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(path) + "'"
	return append(args, "--", sshDestination(remote), transport.UploadPackServiceName+" "+quoted)
}

// sshDestination leaves the user to the client's configuration where the address
// names none.
func sshDestination(remote *url.URL) string {
	if name := remote.User.Username(); name != "" {
		return name + "@" + remote.Hostname()
	}
	return remote.Hostname()
}

// sshSession is git-upload-pack at the other end of an SSH client.
type sshSession struct {
	repository *remoteRepository
	cmd        *exec.Cmd
	kill       context.CancelFunc
	stdin      io.WriteCloser
	stdout     *bufio.Reader
	stderr     *tail
	advertised *packp.AdvRefs
}

// openSSH starts the client. It ends with the context at the latest.
func (r *remoteRepository) openSSH(ctx context.Context) (session, error) {
	ctx, kill := context.WithCancel(ctx)
	words := slices.Concat(r.ssh, sshArguments(r.url))
	s := &sshSession{repository: r, kill: kill, stderr: &tail{}, cmd: exec.CommandContext(ctx, words[0], words[1:]...)}
	s.cmd.Env = append(s.cmd.Environ(), "SSH_ASKPASS_REQUIRE=never")
	s.cmd.Stderr = s.stderr
	s.cmd.WaitDelay = patience // a shared connection stays, and keeps stderr open
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		// What the client has started may outlive it, and would keep this open.
		context.AfterFunc(ctx, func() { _ = stdout.Close() })
		s.stdout = bufio.NewReader(&bounded{ReadCloser: stdout, left: maxPack})
		s.stdin, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		kill()
		return nil, r.noSSH(err)
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
		return nil, s.ended(err)
	}
	transport.FilterUnsupportedCapabilities(advertised.Capabilities)
	s.advertised = advertised
	return advertised, nil
}

// UploadPack asks for a pack.
func (s *sshSession) UploadPack(_ context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
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
		return nil, s.ended(err)
	}
	return response, nil
}

// Close lets the remote end by itself, but not for long: whatever was wanted of
// it is there.
func (s *sshSession) Close() error {
	_ = pktline.NewEncoder(s.stdin).Flush() // there is nothing more to ask for
	_ = s.stdin.Close()
	late := time.AfterFunc(patience, s.kill)
	defer late.Stop()
	_ = s.cmd.Wait()
	s.kill()
	return nil
}

// ended waits for the client, whose last words say more than that it has ended:
// err is what became of the conversation.
func (s *sshSession) ended(err error) error {
	_ = s.stdin.Close()
	_ = s.cmd.Wait()
	const ofTheClient = 255 // its own failures; else it is the remote's status
	return s.repository.sshFault(err, s.cmd.ProcessState.ExitCode() == ofTheClient, s.stderr.String())
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const maxTail = 8 << 10 // bytes

// Write makes it an io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.text)) }
