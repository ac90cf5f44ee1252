package credential

import (
	"context"
	"encoding/json"
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

// GitHelper asks git's credential helpers for a login, of the given user if there is one.
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

// DockerToken is the username of a login whose token is to be exchanged for another
// one, as Docker's credential helpers write it.
const DockerToken = "<token>"

// DockerHelper asks a credential helper of Docker for the login at a server, which is
// anonymous if it has none. The protocol is that of docker-credential-helpers.
func DockerHelper(helper, server string) func(context.Context) (Credential, error) {
	name := "docker-credential-" + helper
	return func(ctx context.Context) (Credential, error) {
		out, err := output(ctx, server, name, "get")
		if err != nil {
			if strings.TrimSpace(out) == "credentials not found in native keychain" {
				return Credential{}, nil
			}
			return Credential{}, missing("`%s get` failed for %s: %w", name, server, err)
		}
		var login struct{ Username, Secret string }
		if err := json.Unmarshal([]byte(out), &login); err != nil {
			return Credential{}, missing("`%s get` printed no login for %s", name, server)
		}
		return Credential{Username: login.Username, Token: secret.Text(login.Secret), From: "`" + name + "`"}, nil
	}
}

// Program asks a program, which prints a token.
func Program(command []string) func(context.Context) (Credential, error) {
	return func(ctx context.Context) (Credential, error) {
		out, err := output(ctx, "", command[0], command[1:]...)
		if err != nil {
			return Credential{}, missing("`%s` failed: %w", command[0], err)
		}
		token := strings.TrimSpace(out)
		if token == "" || strings.ContainsAny(token, "\r\n") {
			return Credential{}, missing("`%s` printed no token", command[0])
		}
		return Credential{Token: secret.Text(token), From: "`" + command[0] + "`"}, nil
	}
}

// waitDelay is for a child process that keeps the output open after the program has ended.
const waitDelay = time.Second

// output runs a program without any way to prompt. Its stderr is dropped, as a helper may write secrets there.
func output(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
		"GH_PROMPT_DISABLED=1")
	cmd.WaitDelay = waitDelay
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), fmt.Errorf("exit status %d", exit.ExitCode())
	}
	return string(out), err
}
