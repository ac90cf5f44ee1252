package userstring

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/fault"
)

func keys() []string { return []string{"ns", "pod", "ref", "repo", "user", "workload"} }

func workloadKinds() []string { return []string{"deployment", "statefulset", "daemonset"} }

func isUserChar(r rune) bool {
	return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// value percent-decodes by the rules of a path, where + is itself.
func (p *parser) value(raw string, at int) (string, error) {
	if raw == "" {
		return "", p.fail(at, "a value is missing")
	}
	value, err := url.PathUnescape(raw)
	if err != nil {
		return "", p.fail(at+strings.IndexByte(raw, '%'), "%% starts an encoded character: two hexadecimal digits follow it")
	}
	if !utf8.ValidString(value) {
		return "", p.fail(at, "the decoded value is not UTF-8")
	}
	for _, r := range value {
		if r == '|' || unicode.IsSpace(r) || unicode.IsControl(r) || !unicode.IsPrint(r) {
			return "", p.fail(at, "a value holds no %q: no spaces, control characters or |", r)
		}
	}
	return value, nil
}

// set stores one value, lowered, but for the ref that is also kept as typed.
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

// repo reads owner/name; without an owner it is the user's own. Of more than
// two segments the last is the name.
func (p *parser) repo(value string, at int) error {
	segments := strings.Split(value, "/")
	if slices.Contains(segments, "") {
		return p.fail(at, "repo is owner/name: no part of it may be empty")
	}
	last := len(segments) - 1
	p.u.RepoName = segments[last]
	p.u.RepoOwner = strings.Join(segments[:last], "/")
	if p.u.RepoOwner == "" {
		p.u.RepoOwner = p.u.User
	}
	return nil
}

func (p *parser) workload(value string, at int) error {
	kind, name, ok := strings.Cut(value, "/")
	if !ok || name == "" || strings.Contains(name, "/") || !slices.Contains(workloadKinds(), kind) {
		return p.fail(at, "workload is kind/name, the kind one of %s", strings.Join(workloadKinds(), ", "))
	}
	p.u.Workload = Workload{Kind: kind, Name: name}
	return nil
}

// check applies the rules on which keys go together.
func (p *parser) check() error {
	u, has := p.u, func(key string) bool { return slices.Contains(p.seen, key) }
	switch {
	case u.Pod != "" && (has("repo") || has("workload") || has("ref") || u.Blueprint != ""):
		return p.failKey("pod", "pod names one workspace: only ns and user go with it")
	case has("ref") && !has("repo"):
		return p.failKey("ref", "ref needs repo")
	case u.Blueprint != "" && has("repo"):
		return p.failKey("repo", "a repository brings its own blueprint: leave %q out", u.Blueprint)
	case u.Blueprint == "" && u.Pod == "" && !has("repo"):
		return p.fail(len(p.text), "repo=OWNER/NAME, pod=NAME or a blueprint is needed")
	case has("workload") && !has("ns"):
		return p.failKey("workload", "workload needs ns")
	case has("ns") && !has("workload") && u.Pod == "":
		return p.failKey("ns", "ns goes with workload or pod only")
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

// invalid points at a character, counted from 1 as editors do.
func invalid(text string, at int, format string, args ...any) error {
	err := fault.New(fault.InvalidArgument, format, args...)
	err.Message = "user string: " + err.Message + "\n  " + text + "\n  " + strings.Repeat(" ", at) + "^ character " + strconv.Itoa(at+1)
	return err.WithHint("USER, USER~BLUEPRINT, USER~repo=OWNER/NAME or USER~pod=NAME; see `berth help user-strings`")
}
