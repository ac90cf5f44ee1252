package credential

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/secret"
)

// GitHubCLI asks gh for its token for a host.
func GitHubCLI(host string) func(context.Context) (Credential, error) {
	return func(ctx context.Context) (Credential, error) {
		out, err := output(ctx, "", "gh", "auth", "token", "--hostname", host)
		if err != nil {
			return Credential{}, missing("`gh auth token --hostname %s` failed: %w", host, err)
		}
		return Credential{Token: secret.Text(strings.TrimSpace(out)), From: "`gh auth token`"}, nil
	}
}

// GitHelper asks git's credential helpers for a login, of the given user if
// there is one.
func GitHelper(remote *url.URL, username string) func(context.Context) (Credential, error) {
	request := "protocol=" + remote.Scheme + "\nhost=" + remote.Host + "\n"
	if path := strings.TrimPrefix(remote.Path, "/"); path != "" {
		request += "path=" + path + "\n" // git drops it unless credential.useHttpPath is set
	}
	if username != "" {
		request += "username=" + username + "\n"
	}
	return func(ctx context.Context) (Credential, error) {
		out, err := output(ctx, request+"\n", "git", "credential", "fill")
		if err != nil {
			return Credential{}, missing("`git credential fill` failed for %s: %w", remote.Host, err)
		}
		c := Credential{From: "`git credential fill`"}
		for line := range strings.Lines(out) {
			name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
			switch name {
			case "username":
				c.Username = value
			case "password":
				c.Token = secret.Text(value)
			}
		}
		return c, nil
	}
}

// waitDelay is for a child process that keeps the output open after the program
// has ended.
const waitDelay = time.Second

// output runs a program without any way to prompt. Its stderr is dropped, as a
// helper may write secrets there.
func output(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "GH_PROMPT_DISABLED=1")
	cmd.WaitDelay = waitDelay
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("exit status %d", exit.ExitCode())
	}
	return string(out), err
}
