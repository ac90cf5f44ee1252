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

// pullCode sorts the cause of a failed pull. There is only text to go by.
func pullCode(text string) string {
	text = strings.ToLower(text)
	for _, kind := range []struct {
		code  string
		words []string
	}{
		{CauseRegistryRateLimited, []string{"toomanyrequests", "too many requests", "rate limit"}},
		{CauseImagePullDenied, []string{
			"denied", "unauthorized", "authentication required",
			"authorization failed", "403 forbidden", "insufficient_scope", "no basic auth credentials",
		}},
		{CauseRegistryUnreachable, []string{
			"no such host", "connection refused", "connection reset", "i/o timeout",
			"tls handshake", "x509:", "deadline exceeded", "network is unreachable", "no route to host", "server misbehaving",
			"unexpected eof", "http response to https", "500 internal server error", "502 bad gateway",
			"503 service unavailable", "504 gateway timeout",
		}},
		{CauseImageWrongPlatform, []string{"no match for platform", "no matching manifest"}},
		{CauseImageNotFound, []string{"not found", "manifest unknown", "name unknown", "manifest_unknown", "does not exist"}},
	} {
		for _, word := range kind.words {
			if strings.Contains(text, word) {
				return kind.code
			}
		}
	}
	return CauseImagePullFailed
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
