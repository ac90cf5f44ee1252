package watch

import (
	"fmt"
	"regexp"
	"strings"
)

// shortImage is an image's name without registry and path: dev-tools:1.4.
func shortImage(image string) string {
	name, digest, pinned := strings.Cut(image, "@")
	name = name[strings.LastIndex(name, "/")+1:]
	if pinned && !strings.Contains(name, ":") {
		algorithm, hex, _ := strings.Cut(digest, ":")
		name += "@" + algorithm + ":" + hex[:min(7, len(hex))]
	}
	return name
}

// shortSchedule is the scheduler's reason without its remarks on preemption:
// "0/1 nodes: 1 Insufficient cpu".
func shortSchedule(message string) string {
	message = strings.Replace(message, " nodes are available:", " nodes:", 1)
	message, _, _ = strings.Cut(message, ". ")
	return strings.TrimSuffix(message, ".")
}

// The layers of wrapping around the cause of a failed pull.
var pullWrapping = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`Failed to pull image "[^"]*": `,
	`Back-off pulling image "[^"]*": `,
	`ErrImagePull: `,
	`rpc error: code = \w+ desc = `,
	`failed to pull and unpack image "[^"]*": `,
	`failed to resolve reference "[^"]*": `,
	`failed to resolve image: `,
	`failed to do request: `,
	`Error: `,
}, "|") + `)`)

// trimPull takes the wrapping off: what is left is what the registry, or the
// network, said.
func trimPull(message string) string {
	for {
		inner := pullWrapping.ReplaceAllString(message, "")
		if inner == message {
			return strings.TrimSpace(message)
		}
		message = inner
	}
}

// pullKind is a kind of failed pull, and the words that tell it.
type pullKind struct {
	code   string
	passes bool // it is known to pass by itself, sooner or later
	words  []string
}

func pullKinds() []pullKind {
	return []pullKind{
		{CauseRegistryRateLimited, true, []string{"toomanyrequests", "too many requests", "rate limit"}},
		{CauseImagePullDenied, false, []string{
			"denied", "unauthorized", "authentication required",
			"authorization failed", "403 forbidden", "insufficient_scope", "no basic auth credentials",
		}},
		{CauseRegistryUnreachable, false, []string{"no such host", "x509:", "http response to https"}},
		{CauseRegistryUnreachable, true, []string{
			"connection refused", "connection reset", "i/o timeout", "tls handshake", "deadline exceeded",
			"client.timeout exceeded", "network is unreachable", "no route to host", "server misbehaving",
			"temporary failure in name resolution", "unexpected eof", "500 internal server error", "502 bad gateway",
			"503 service unavailable", "504 gateway timeout", "504 gateway time-out",
		}},
		{CauseImageWrongPlatform, false, []string{"no match for platform", "no matching manifest"}},
		{CauseImageNotFound, false, []string{"not found", "manifest unknown", "name unknown", "manifest_unknown", "does not exist"}},
		{CauseImagePullFailed, true, []string{"pull qps exceeded"}}, // the kubelet's own limit
	}
}

// A status that the words above do not tell: "unexpected status code
// https://…: 521", also with a word behind it.
var serverError = regexp.MustCompile(`unexpected status.*: 5\d\d\b`)

// pullCode sorts the cause of a failed pull and says whether it is known to
// pass. There is only text to go by.
func pullCode(text string) (code string, passes bool) {
	text = strings.ToLower(text)
	for _, kind := range pullKinds() {
		for _, word := range kind.words {
			if strings.Contains(text, word) {
				return kind.code, kind.passes
			}
		}
	}
	if serverError.MatchString(text) {
		return CauseRegistryUnreachable, true
	}
	return CauseImagePullFailed, false
}

// startCode sorts the runtime's words for a container that did not start.
func startCode(message string) string {
	switch {
	case strings.Contains(message, "exec format error"):
		return CauseExecFormat
	case strings.Contains(message, "executable file not found"),
		strings.Contains(message, "exec: ") && strings.Contains(message, "no such file or directory"):
		return CauseCommandNotFound
	}
	return CauseStartFailed
}

// trimStart leaves what runc or the kubelet said of the wrapping around it.
func trimStart(message string) string {
	if _, inner, ok := strings.Cut(message, "unable to start container process: "); ok {
		message = "cannot start: " + strings.TrimPrefix(inner, "error during container init: ")
	}
	return strings.TrimSuffix(strings.TrimSpace(message), ": unknown")
}

// lastPart is the end of a chain of "what: why: why".
func lastPart(message string) string {
	parts := strings.Split(strings.TrimSpace(message), ": ")
	return strings.TrimSpace(strings.Join(parts[max(0, len(parts)-2):], ": "))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (c container) limitText() string {
	if c.limit == "" {
		return "; it has no memory limit of its own"
	}
	return ", its limit is " + c.limit
}
