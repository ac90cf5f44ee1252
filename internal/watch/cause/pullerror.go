package cause

import (
	"regexp"
	"strings"
)

// pullKind is a kind of failed pull, and the words by which it is recognized.
type pullKind struct {
	code   string
	passes bool // it is known to pass by itself, sooner or later
	words  []string
}

func pullKinds() []pullKind {
	return []pullKind{
		{RegistryRateLimited, true, []string{"toomanyrequests", "too many requests", "rate limit"}},
		{ImagePullDenied, false, []string{
			"denied", "unauthorized", "authentication required",
			"authorization failed", "403 forbidden", "insufficient_scope", "no basic auth credentials",
		}},
		{RegistryUnreachable, false, []string{"no such host", "x509:", "http response to https"}},
		{RegistryUnreachable, true, []string{
			"connection refused", "connection reset", "i/o timeout", "tls handshake", "deadline exceeded",
			"client.timeout exceeded", "network is unreachable", "no route to host", "server misbehaving",
			"temporary failure in name resolution", "unexpected eof", "500 internal server error", "502 bad gateway",
			"503 service unavailable", "504 gateway timeout", "504 gateway time-out",
		}},
		{ImageWrongPlatform, false, []string{"no match for platform", "no matching manifest"}},
		{ImageNotFound, false, []string{"not found", "manifest unknown", "name unknown", "manifest_unknown", "does not exist"}},
		{ImagePullFailed, true, []string{"pull qps exceeded"}}, // the kubelet's own limit
	}
}

// A status that the words above do not have: "unexpected status code
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
		return RegistryUnreachable, true
	}
	return ImagePullFailed, false
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

// lastPart is the end of a chain of "what: why: why".
func lastPart(message string) string {
	parts := strings.Split(strings.TrimSpace(message), ": ")
	return strings.TrimSpace(strings.Join(parts[max(0, len(parts)-2):], ": "))
}
