package git

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"unicode"

	"github.com/berthdev/berth/internal/fault"
)

// sshFault classifies err by the stderr of the SSH client, or of the command
// that it ran. OpenSSH has one status for all its failures, and English only.
func (r Remote) sshFault(err error, ofClient bool, stderr string) error {
	switch {
	case isMissingCommit(err):
		return err
	case !ofClient && isMissingCommit(errors.New(stderr)):
		return errors.New(stderr) // it exited before it read the request
	case !ofClient && isMissingRepository(stderr) && r.Key != "":
		return notVisible(fault.NotFound, "repository %s not found, or not visible with the SSH key of %s", r, r.Key).
			WithHint("check the spelling, and that the key may read it")
	case !ofClient && isMissingRepository(stderr):
		return notVisible(fault.NotFound, "repository %s not found, or not visible with your SSH keys", r).
			WithHint("check the spelling; if it is private, check which key `%s` logs in with", r.sshCommand())
	case !ofClient:
	case r.Key != "":
		if known := r.keyFault(stderr); known != nil {
			return known
		}
	case strings.Contains(stderr, "HOST IDENTIFICATION HAS CHANGED"):
		return fault.New(fault.Unauthenticated,
			"the SSH host key of %s has changed: someone may be intercepting the connection, or the host has a new key",
			r.URL.Host).
			WithReason(ReasonHostNotTrusted).
			WithHint("ask the administrator of the host; if the change is theirs, remove the old key with `ssh-keygen -R '%s'` and connect once with `%s`", r.knownHost(), r.sshCommand())
	case strings.Contains(stderr, "Host key verification failed"):
		return fault.New(fault.Unauthenticated, "the SSH host key of %s is unknown; repository %s was not read", r.URL.Host,
			r).
			WithReason(ReasonHostNotTrusted).
			WithHint("connect once with `%s`, and compare the fingerprint with the published one", r.sshCommand())
	case strings.Contains(stderr, "Permission denied ("):
		return notVisible(fault.Unauthenticated, "%s accepted none of your SSH keys for repository %s", r.URL.Host, r).
			WithHint("try `%s`; add the key to your agent with `ssh-add` (there is no prompt for its passphrase here), or configure an https address", r.sshCommand())
	}
	if line := lastLine(stderr); line != "" {
		err = errors.New(line)
	}
	return r.unavailable(err)
}

// keyFault is sshFault of a client that has one key, and knows the hosts beside it; nil if
// it does not know why.
func (r Remote) keyFault(stderr string) error {
	switch {
	case strings.Contains(stderr, "HOST IDENTIFICATION HAS CHANGED"),
		strings.Contains(stderr, "Host key verification failed"):
		return fault.New(fault.Unauthenticated,
			"the SSH host key of %s is not the one that is known for it; repository %s was not read", r.URL.Host, r).
			WithReason(ReasonHostNotTrusted).
			WithHint("put the host's key into ssh-knownhosts of %s: compare `ssh-keyscan` with what its administrator publishes", r.Key)
	case strings.Contains(stderr, "Permission denied ("):
		return notVisible(fault.Unauthenticated, "%s did not accept the SSH key of %s for repository %s", r.URL.Host, r.Key,
			r).
			WithHint("check that ssh-privatekey is a key without a passphrase that may read the repository")
	}
	return nil
}

func (r Remote) sshStartFault(err error) error {
	if !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	return fault.New(fault.InvalidArgument, "reading repository %s requires ssh, which is not installed", r).
		WithHint("install the OpenSSH client, which the image of berth does not have, or use an https address")
}

// sshCommand is what a user can run to see the problem.
func (r Remote) sshCommand() string {
	command := "ssh -T "
	if port := r.URL.Port(); port != "" {
		command += "-p " + port + " "
	}
	return command + sshDestination(r.URL)
}

// knownHost is the name of the host in known_hosts.
func (r Remote) knownHost() string {
	if port := r.URL.Port(); port != "" && port != "22" {
		return "[" + r.URL.Hostname() + "]:" + port
	}
	return r.URL.Hostname()
}

// isMissingRepository knows the messages of git and of hosting services.
func isMissingRepository(stderr string) bool {
	return slices.ContainsFunc([]string{
		"Repository not found", "does not appear to be a git repository", "repository does not exist",
		"Repository does not exist", "could not be found", "no such repository",
	}, func(message string) bool { return strings.Contains(stderr, message) })
}

const maxLine = 200 // runes

// lastLine is the last line that is not empty, without control characters.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return ""
	}
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, lines[len(lines)-1]))
	return string(line[:min(len(line), maxLine)])
}
