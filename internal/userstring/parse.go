package userstring

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/fault"
)

// Parse parses a user string that somebody typed, plain or wrapped as b64-… or base64-….
func Parse(s string) (UserString, error) { return parse(s, MaxLength) }

// ParseCanonical parses what String has made of a user string, which may be longer than what
// people may type.
func ParseCanonical(s string) (UserString, error) { return parse(s, MaxCanonical) }

func parse(s string, most int) (UserString, error) {
	s = strings.TrimSpace(s)
	plain, err := unwrap(s)
	if err != nil {
		return UserString{}, err
	}
	if n := utf8.RuneCountInString(plain); n > most {
		return UserString{}, invalid(plain, most, "must have at most %d characters, has %d", most, n)
	}
	p := parser{text: plain}
	return p.parse()
}

// unwrap decodes a wrapped user string, once: what it wraps is plain.
func unwrap(s string) (string, error) {
	for _, prefix := range wrappers() {
		rest, ok := strings.CutPrefix(s, prefix)
		if !ok {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(rest)
		if err != nil || !utf8.Valid(raw) {
			return "", fault.New(fault.InvalidArgument, "user string %q is not unpadded base64url after %q", s, prefix).
				WithHint("write it plain, or wrap it with: printf %%s USERSTR | basenc --base64url | tr -d =")
		}
		return strings.TrimSpace(string(raw)), nil
	}
	return s, nil
}

func wrappers() []string { return []string{"b64-", "base64-"} }

// parser parses one user string. Offsets are bytes of text.
type parser struct {
	text string
	seen []string
	u    UserString
}

func (p *parser) parse() (UserString, error) {
	user, spec, hasSpec := strings.Cut(p.text, "~")
	if err := p.user(user); err != nil {
		return UserString{}, err
	}
	if !hasSpec {
		return p.u, nil
	}
	at := len(user) + 1
	for i, segment := range strings.Split(spec, "+") {
		if err := p.segment(segment, at, i == 0); err != nil {
			return UserString{}, err
		}
		at += len(segment) + 1
	}
	return p.u, p.check()
}

// user reads USER: what is typed is lowered, what is percent-encoded stays as it is.
func (p *parser) user(user string) error {
	if user == "" {
		return p.fail(0, "must start with a username: use letters, digits, _ and -")
	}
	var name strings.Builder
	for i := 0; i < len(user); {
		r, size := utf8.DecodeRuneInString(user[i:])
		lowered, legal := typedAs(r)
		switch {
		case r == '%':
			size = len("%41")
			decoded, err := url.PathUnescape(user[i:min(i+size, len(user))])
			if err != nil {
				return p.fail(i, "invalid encoding: %% must be followed by two hexadecimal digits")
			}
			name.WriteString(decoded)
		case r == '+':
			return p.fail(i, "a blueprint, repo=OWNER/NAME or pod=NAME is required before +, as in %s~dev%s", user[:i], user[i:])
		case !legal:
			return p.fail(i, "invalid character %q in the username: use letters, digits, . _ - and @, or write it as %s", r,
				percent(user[i:i+size]))
		default:
			name.WriteRune(lowered)
		}
		i += size
	}
	if !utf8.ValidString(name.String()) {
		return p.fail(0, "the decoded username is not valid UTF-8")
	}
	p.u.User = name.String()
	return nil
}

// segment parses BLUEPRINT or KEY=VALUE, which starts at at.
func (p *parser) segment(segment string, at int, first bool) error {
	if segment == "" {
		return p.fail(at, "empty part: expected a blueprint or KEY=VALUE")
	}
	if i := strings.IndexAny(segment, "@~"); i >= 0 {
		return p.fail(at+i, "%q must be written as %%%02X here", segment[i], segment[i])
	}
	key, raw, isPair := strings.Cut(segment, "=")
	if !isPair {
		if !first {
			return p.fail(at, "expected KEY=VALUE, found %q; keys are %s", segment, strings.Join(keys(), ", "))
		}
		value, err := p.value(segment, at)
		p.u.Blueprint = strings.ToLower(value)
		return err
	}
	if i := strings.IndexByte(raw, '='); i >= 0 {
		return p.fail(at+len(key)+1+i, "a second \"=\" must be written as %%3D")
	}
	return p.pair(strings.ToLower(key), raw, at)
}

func (p *parser) pair(key, raw string, at int) error {
	if !slices.Contains(keys(), key) {
		return p.fail(at, "unknown key %q; keys are %s", key, strings.Join(keys(), ", "))
	}
	if slices.Contains(p.seen, key) {
		return p.fail(at, "duplicate key %q", key)
	}
	p.seen = append(p.seen, key)
	at += len(key) + 1
	value, err := p.value(raw, at)
	if err != nil {
		return err
	}
	return p.set(key, value, at)
}
