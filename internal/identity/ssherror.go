package identity

import (
	"errors"
	"os/exec"
	"strings"
	"unicode"

	"github.com/berthdev/berth/internal/fault"
)

// sshFault tells apart what the SSH client, or git behind it, said as it ended.
// OpenSSH has one status for all its failures, and speaks English only.
func (r *remoteRepository) sshFault(err error, ofTheClient bool, said string) error {
	name := r.user.RepoOwner + "/" + r.user.RepoName
	switch {
	case isNoCommit(err):
		return err
	case !ofTheClient && isNoRepository(said):
		return notVisible(fault.NotFound, "repository %s is not at %s, or may not be seen with your SSH keys", name, r.where).
			WithHint("check the spelling; if it is private, check which key `%s` logs in with", r.sshCommand())
	case !ofTheClient:
	case strings.Contains(said, "HOST IDENTIFICATION HAS CHANGED"):
		return fault.New(fault.Unauthenticated, "the SSH host key of %s is another than the one that is known: it has changed, or somebody stands in between", r.where).
			WithReason(reasonHostNotTrusted).
			WithHint("ask whoever runs the host; if the change is theirs, remove the old key with `ssh-keygen -R '%s'` and connect once with `%s`", r.knownAs(), r.sshCommand())
	case strings.Contains(said, "Host key verification failed"):
		return fault.New(fault.Unauthenticated, "the SSH host key of %s is not known: it is not asked for repository %s", r.where, name).
			WithReason(reasonHostNotTrusted).
			WithHint("connect once with `%s`, and compare the fingerprint with the one that the host publishes", r.sshCommand())
	case strings.Contains(said, "Permission denied ("):
		return notVisible(fault.Unauthenticated, "%s accepts none of your SSH keys for repository %s", r.where, name).
			WithHint("try `%s`; add the key to your agent with `ssh-add` (nobody is asked for its passphrase here), or configure an https address under identity.providers", r.sshCommand())
	}
	if line := lastLine(said); line != "" {
		err = errors.New(line)
	}
	return unavailable(KindGit+" ("+r.where+")", err)
}

func (r *remoteRepository) noSSH(err error) error {
	if !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	return fault.New(fault.InvalidArgument, "repositories at %s are read with ssh, which is not installed", r.where).
		WithHint("install OpenSSH's client, or configure an https address under identity.providers")
}

// sshCommand is what a user types to see what the matter is.
func (r *remoteRepository) sshCommand() string {
	command := "ssh -T "
	if port := r.url.Port(); port != "" {
		command += "-p " + port + " "
	}
	return command + sshDestination(r.url)
}

// knownAs is the name of the host in known_hosts.
func (r *remoteRepository) knownAs() string {
	if port := r.url.Port(); port != "" && port != "22" {
		return "[" + r.url.Hostname() + "]:" + port
	}
	return r.url.Hostname()
}

// isNoRepository knows the words of git and of those who serve it.
func isNoRepository(said string) bool {
	for _, words := range []string{
		"Repository not found", "does not appear to be a git repository", "repository does not exist",
		"Repository does not exist", "could not be found", "no such repository",
	} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

const maxLine = 200 // runes

// lastLine is the last one that says something, without what a terminal would
// obey.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return ""
	}
	line := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, lines[len(lines)-1])
	if runes := []rune(line); len(runes) > maxLine {
		line = string(runes[:maxLine])
	}
	return line
}
