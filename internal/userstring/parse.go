package userstring

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/fault"
)

// Parse parses a user string that somebody typed, plain or wrapped as b64-… or base64-….
func Parse(s string) (UserString, error) { return parse(s, MaxLength) }

// ParseCanonical parses what String has made of a user string, which may be longer than what people may type.
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
			return p.fail(i, "a blueprint, repo=OWNER/NAME or pod=NAME is required before +, as in %s~dev%s",
				user[:i], user[i:])
		case !legal:
			return p.fail(i, "invalid character %q in the username: use letters, digits, . _ - and @, "+
				"or write it as %s", r, percent(user[i:i+size]))
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
		p.u.Blueprint, p.u.BlueprintTyped = strings.ToLower(value), value
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

func keys() []string { return []string{"ns", "pod", "ref", "repo", "user", "workload"} }

func workloadKinds() []string { return []string{"deployment", "statefulset", "daemonset"} }

// isValueChar is true for what a value can have, once it is decoded.
func isValueChar(r rune) bool { return r != '|' && !unicode.IsSpace(r) && unicode.IsPrint(r) }

// CanName reports whether a user string can name a blueprint so. One with capitals is named as it is typed.
func CanName(blueprint string) bool {
	no := func(r rune) bool { return !isValueChar(r) }
	return blueprint != "" && utf8.ValidString(blueprint) && !strings.ContainsFunc(blueprint, no)
}

// value percent-decodes by the rules of a path, where + is itself.
func (p *parser) value(raw string, at int) (string, error) {
	if raw == "" {
		return "", p.fail(at, "missing value")
	}
	value, err := url.PathUnescape(raw)
	if err != nil {
		return "", p.fail(at+strings.IndexByte(raw, '%'),
			"invalid encoding: %% must be followed by two hexadecimal digits")
	}
	if !utf8.ValidString(value) {
		return "", p.fail(at, "the decoded value is not valid UTF-8")
	}
	for _, r := range value {
		if !isValueChar(r) {
			return "", p.fail(at, "invalid character %q: a value must not contain spaces, control characters or |", r)
		}
	}
	return value, nil
}

// set stores a value in lower case; the ref is kept as typed, too.
func (p *parser) set(key, value string, at int) error {
	lowered := strings.ToLower(value)
	switch key {
	case "ns":
		p.u.Namespace = lowered
	case "pod":
		p.u.Pod = lowered
	case "user":
		p.u.OSUser = lowered
	case "ref":
		p.u.Ref, p.u.RefTyped = lowered, value
	case "repo":
		return p.repo(lowered, at)
	case "workload":
		return p.workload(lowered, at)
	}
	return nil
}

// repo parses owner/name. The owner defaults to the user, and may have several segments.
func (p *parser) repo(value string, at int) error {
	if slices.Contains(strings.Split(value, "/"), "") {
		return p.fail(at, "repo must be owner/name without empty parts")
	}
	owner, name := path.Split(value)
	if owner == "" && !consistsOf(p.u.User, lowers+digits+"._-") {
		return p.fail(at, "repo must be owner/name here: %s is not the name of an owner", escapeUser(p.u.User))
	}
	p.u.RepoOwner, p.u.RepoName = cmp.Or(strings.TrimSuffix(owner, "/"), p.u.User), name
	return nil
}

func (p *parser) workload(value string, at int) error {
	kind, name, ok := strings.Cut(value, "/")
	if !ok || name == "" || strings.Contains(name, "/") || !slices.Contains(workloadKinds(), kind) {
		return p.fail(at, "workload must be kind/name, where kind is one of %s", strings.Join(workloadKinds(), ", "))
	}
	p.u.Workload = Workload{Kind: kind, Name: name}
	return nil
}

// check validates the combination of keys.
func (p *parser) check() error {
	u, has := p.u, func(key string) bool { return slices.Contains(p.seen, key) }
	switch {
	case u.Pod != "" && (has("repo") || has("workload") || has("ref") || u.Blueprint != ""):
		return p.failKey("pod", "pod can only be combined with ns and user")
	case has("ref") && !has("repo"):
		return p.failKey("ref", "ref requires repo")
	case u.Blueprint != "" && has("repo"):
		return p.failKey("repo", "blueprint %q and repo are mutually exclusive", u.Blueprint)
	case u.Blueprint == "" && u.Pod == "" && !has("repo"):
		return p.fail(len(p.text), "a blueprint, repo=OWNER/NAME or pod=NAME is required")
	case has("workload") && !has("ns"):
		return p.failKey("workload", "workload requires ns")
	case has("ns") && !has("workload") && u.Pod == "":
		return p.failKey("ns", "ns requires workload or pod")
	}
	return nil
}

func (p *parser) failKey(key, format string, args ...any) error {
	at := strings.Index(strings.ToLower(p.text), key+"=")
	return p.fail(max(at, 0), format, args...)
}

func (p *parser) fail(at int, format string, args ...any) error {
	return invalid(p.text, utf8.RuneCountInString(p.text[:min(at, len(p.text))]), format, args...)
}

// maxShown is how much of a text is shown, in characters: one that is longer is too long.
const maxShown = 2 * MaxLength

// visible keeps the characters of a text in their columns: those that take none, or begin a line, are replaced.
func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return '\uFFFD'
	}
	return r
}

// invalid points at a character, counted from 1 as editors do.
func invalid(text string, at int, format string, args ...any) error {
	err := fault.New(fault.InvalidArgument, format, args...)
	shown := []rune(strings.Map(visible, text))
	if len(shown) > maxShown {
		shown = append(shown[:maxShown], '…')
	}
	err.Message = "user string: " + err.Message + "\n  " + string(shown) + "\n  " +
		strings.Repeat(" ", min(at, len(shown))) + "^ character " + strconv.Itoa(at+1)
	return err.WithHint("USER, USER~BLUEPRINT, USER~repo=OWNER/NAME or USER~pod=NAME; see `berth help user-strings`")
}
