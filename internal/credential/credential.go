// Package credential finds the login or token that a server asks for, and sends it to that server only.
package credential

import (
	"context"
	"io"
	"net/netip"
	"os"
	"strings"
	"sync"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/secret"
)

// ReasonRejected is the fault reason of a credential that is missing, wrong or not sufficient.
const ReasonRejected = "TOKEN_REJECTED" //nolint:gosec // the name of a reason

// Credential is what a client sends to a server. The zero value is anonymous.
type Credential struct {
	Username string
	Token    secret.Text
	// From names the source in messages: the variable GITHUB_TOKEN.
	From string
}

// Anonymous reports whether there is nothing to send.
func (c Credential) Anonymous() bool { return c.Token == "" }

// With describes the credential in a message, without the token.
func (c Credential) With() string {
	if c.Anonymous() {
		return "without a token"
	}
	return "with the token from " + c.From
}

// Source is where a credential comes from. At most one of Env, File and Command
// is set; Fallback is used when they are all empty. A nil Source is anonymous.
type Source struct {
	Username string
	// Env is a variable and File a file that holds the token.
	Env, File string
	// Command asks another program.
	Command func(context.Context) (Credential, error)
	// Fallback are variables that may be unset.
	Fallback []string
	Getenv   func(string) string

	mu    sync.Mutex
	found *Credential
}

const maxFile = 16 << 10 // bytes

// Get returns the credential, which it looks up once. A configured source that
// is empty is an error: an anonymous request would fail with a misleading one.
func (s *Source) Get(ctx context.Context) (Credential, error) {
	if s == nil {
		return Credential{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil {
		c, err := s.find(ctx)
		if err != nil {
			return Credential{}, err
		}
		s.found = &c
	}
	return *s.found, nil
}

func (s *Source) find(ctx context.Context) (Credential, error) {
	switch {
	case s.Env != "":
		c := s.variable(s.Env)
		if c.Anonymous() {
			return c, missing("the variable %s (tokenEnv) is not set", s.Env)
		}
		return c, nil
	case s.File != "":
		return s.file()
	case s.Command != nil:
		return s.Command(ctx)
	}
	for _, name := range s.Fallback {
		if c := s.variable(name); !c.Anonymous() {
			return c, nil
		}
	}
	return Credential{}, nil
}

func (s *Source) variable(name string) Credential {
	token := secret.Text(strings.TrimSpace(s.Getenv(name)))
	return Credential{Username: s.Username, Token: token, From: "the variable " + name}
}

func (s *Source) file() (Credential, error) {
	file, err := os.Open(s.File)
	if err != nil {
		return Credential{}, missing("tokenFile: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	token := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		return Credential{}, missing("tokenFile: %w", err)
	case len(raw) > maxFile:
		return Credential{}, missing("tokenFile: %s is larger than %d KiB", s.File, maxFile>>10)
	case token == "":
		return Credential{}, missing("tokenFile: %s is empty", s.File)
	}
	return Credential{Username: s.Username, Token: secret.Text(token), From: "the file " + s.File}, nil
}

func missing(format string, args ...any) error {
	return fault.New(fault.Unauthenticated, format, args...).WithReason(ReasonRejected).
		WithHint("set the configured token, or configure another source")
}

// IsLoopback is true for a host that means this one, by its name or its address: a credential
// may be sent there without encryption.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || strings.EqualFold(host, "localhost")
}
