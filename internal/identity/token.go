package identity

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/secret"
)

// credential is what a provider shows to a server.
type credential struct {
	Username string
	Token    secret.Text
	// From says where it comes from, for messages; it is never the token itself.
	From string
}

// anonymous is true if there is nothing to show.
func (c credential) anonymous() bool { return c.Token == "" }

// who says in a message who has asked.
func (c credential) who() string {
	if c.anonymous() {
		return "without a token"
	}
	return "with the token of " + c.From
}

// tokenSource finds a credential. Of env, file and cli one is set at most;
// usual are variables that are looked at if none is.
type tokenSource struct {
	username  string
	env, file string
	cli       func(ctx context.Context) (credential, error)
	usual     []string
	getenv    func(string) string
}

const maxToken = 16 << 10

// find gives the credential, or an anonymous one if none is configured. What is
// configured and not there is an error: going on without would end in one that
// nobody understands.
func (t tokenSource) find(ctx context.Context) (credential, error) {
	switch {
	case t.env != "":
		token := strings.TrimSpace(t.getenv(t.env))
		if token == "" {
			return credential{}, noToken("the variable %s (tokenEnv) is not set", t.env)
		}
		return credential{t.username, secret.Text(token), "the variable " + t.env}, nil
	case t.file != "":
		raw, err := readFile(t.file, maxToken)
		if err != nil {
			return credential{}, noToken("the file %s (tokenFile) cannot be read: %v", t.file, err)
		}
		token := strings.TrimSpace(string(raw))
		if token == "" {
			return credential{}, noToken("the file %s (tokenFile) is empty", t.file)
		}
		return credential{t.username, secret.Text(token), "the file " + t.file}, nil
	case t.cli != nil:
		return t.cli(ctx)
	}
	for _, name := range t.usual {
		if token := strings.TrimSpace(t.getenv(name)); token != "" {
			return credential{t.username, secret.Text(token), "the variable " + name}, nil
		}
	}
	return credential{}, nil
}

func noToken(format string, args ...any) error {
	return fault.New(fault.Unauthenticated, format, args...).WithReason(reasonTokenRejected).
		WithHint("it is configured under identity.providers; set it, or configure another source")
}

// ghToken asks GitHub's own command line for its token for a host.
func ghToken(host string) func(context.Context) (credential, error) {
	return func(ctx context.Context) (credential, error) {
		out, err := output(ctx, "", "gh", "auth", "token", "--hostname", host)
		if err != nil {
			return credential{}, noToken("`gh auth token --hostname %s` gives no token: %v", host, err)
		}
		return credential{Token: secret.Text(strings.TrimSpace(out)), From: "`gh auth token`"}, nil
	}
}

// gitCredential asks git's own helpers for a login, of this user if one is given.
func gitCredential(remote *url.URL, username string) func(context.Context) (credential, error) {
	question := "protocol=" + remote.Scheme + "\nhost=" + remote.Host + "\n"
	if path := strings.TrimPrefix(remote.Path, "/"); path != "" {
		question += "path=" + path + "\n" // git leaves it out again, unless credential.useHttpPath is set
	}
	if username != "" {
		question += "username=" + username + "\n"
	}
	return func(ctx context.Context) (credential, error) {
		out, err := output(ctx, question+"\n", "git", "credential", "fill")
		if err != nil {
			return credential{}, noToken("`git credential fill` gives no login for %s: %v", remote.Host, err)
		}
		c := credential{From: "`git credential fill`"}
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

// patience is for what a program has started, outlives it and keeps its output
// open.
const patience = time.Second

// output runs a program that must not ask anybody anything. What it says on
// stderr is not repeated: a helper may say anything there.
func output(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "GH_PROMPT_DISABLED=1")
	cmd.WaitDelay = patience
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("it ended with status %d", exit.ExitCode())
	}
	return string(out), err
}
