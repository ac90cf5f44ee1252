package detect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

const (
	registryUnavailable = "RegistryUnavailable"
	badSignature        = "SignatureValidationFailed"
)

// NotPulled is an image that cannot be had, by the container's status.
func NotPulled(c evidence.Container) *cause.Finding {
	switch reason, message, _ := c.Waiting(); reason {
	case evidence.ErrImagePull, evidence.ImagePullBackOff, registryUnavailable, badSignature:
		return pullFinding(c, reason, explained(c, message))
	case evidence.InvalidImageName:
		return of(c, cause.BadImageName, reason, "image name %q is malformed: %s", c.Image, lastPart(message))
	case evidence.ErrImageNeverPull:
		return of(c, cause.ImageNotPresent, reason, "image %s is not on the node and its pull policy is Never", c.Image)
	}
	return nil
}

// FailedPull believes the event of a failed pull while the status is still
// behind, until an event or the status says that the image came after all.
func FailedPull(c evidence.Container) *cause.Finding {
	if _, _, waiting := c.Waiting(); !waiting {
		return nil
	}
	var failed, explains *corev1.Event
	for _, e := range c.Events {
		switch {
		case evidence.PullEnded(e):
			failed, explains = nil, nil
		case evidence.PullFailed(e):
			failed = e
			if !evidence.IsEcho(e) {
				explains = e
			}
		}
	}
	if failed == nil {
		return nil
	}
	if explains == nil {
		explains = failed
	}
	c.Status.State.Waiting = &corev1.ContainerStateWaiting{
		Reason:  evidence.Meaning(explains),
		Message: evidence.Text(explains),
	}
	f := NotPulled(c)
	if f != nil {
		f.At = evidence.LastSeen(explains)
	}
	return f
}

func pullFinding(c evidence.Container, reason, message string) *cause.Finding {
	detail, image := trimPull(message), pulledImage(c, message)
	code, passes := pullCode(withoutName(detail, strings.TrimSuffix(image, cause.OfVolume)))
	switch {
	case code != cause.ImagePullFailed:
	case reason == registryUnavailable:
		code, passes = cause.RegistryUnreachable, true
	case reason == badSignature:
		code = cause.ImageUnsigned
	}
	if detail == c.Image+": not found" {
		return of(c, code, reason, "image %s not found", c.Image)
	}
	f := of(c, code, reason, "image %s cannot be pulled: %s", image, detail)
	f.Passes, f.Begun = passes, pullFailsSince(c)
	return f
}

const (
	addresses pattern.Expr = `https?://[^\s"]*[^\s":]` // and not the colon before what they say
	scope     pattern.Expr = `scope=\S+`
)

// withoutName leaves out the name of an image, which says nothing of what is wrong, such as vulnerability-scanner.
// Runtimes name its repository by itself, too, and in addresses.
func withoutName(text, image string) string {
	text = addresses.ReplaceAllString(text, "")
	text = strings.ReplaceAll(scope.ReplaceAllString(text, ""), image, "")
	repository, _, _ := strings.Cut(image, "@")
	if at := strings.LastIndexByte(repository, ':'); at > strings.LastIndexByte(repository, '/') {
		repository = repository[:at]
	}
	if !strings.Contains(repository, "/") { // one word may be any
		return text
	}
	_, path, _ := strings.Cut(repository, "/")
	text = strings.ReplaceAll(text, repository, "")
	if !strings.Contains(path, "/") {
		return text
	}
	return strings.ReplaceAll(text, path, "")
}

// namedImage is how the kubelet and the runtimes name the image that they pull.
const namedImage pattern.Expr = `(?:pull|pulling|pull and unpack) image "([^"]+)"`

// pulledImage is the image that does not come: that of the container, or that of a volume, for which the container
// waits as for its own.
func pulledImage(c evidence.Container, message string) string {
	m := namedImage.FindStringSubmatch(message)
	if len(m) == 0 || !slices.Contains(c.ImageVolumes, m[1]) || m[1] == c.Image {
		return c.Image
	}
	return m[1] + cause.OfVolume
}

// explained gives the registry's words where the kubelet (before 1.33) only says
// that it is backing off: the event of the attempt before has them.
func explained(c evidence.Container, message string) string {
	if !strings.HasPrefix(message, "Back-off pulling image") || strings.Contains(message, `": `) {
		return message
	}
	for _, e := range slices.Backward(c.Events) {
		if evidence.PullFailed(e) && !evidence.IsEcho(e) {
			return evidence.Text(e)
		}
	}
	return message
}

// pullFailsSince is when the image could not be pulled for the first time since
// it last could; zero if no event says so. A repeated event is one object, which
// may have begun before that. Of a container that ran, it is not before its end.
func pullFailsSince(c evidence.Container) (since time.Time) {
	var arrived, ended time.Time
	if t := c.Status.LastTerminationState.Terminated; t != nil {
		ended = t.FinishedAt.Time
	}
	for _, e := range c.Events {
		switch {
		case evidence.PullEnded(e):
			arrived, since = evidence.LastSeen(e), time.Time{}
		case evidence.PullFailed(e):
			if at := evidence.Later(arrived, evidence.FirstSeen(e)); since.IsZero() || at.Before(since) {
				since = at
			}
		}
	}
	return evidence.Later(since, ended)
}

// pullKind is a kind of failed pull, and the words by which it is recognized.
type pullKind struct {
	code   string
	passes bool // it is known to pass by itself, sooner or later
	words  []string
}

func pullKinds() []pullKind {
	return []pullKind{
		{cause.RegistryRateLimited, true, []string{"toomanyrequests", "too many requests", "rate limit"}},
		// the kubelet removes images
		{cause.NodeDiskFull, true, []string{"no space left on device", "disk quota exceeded"}},
		{cause.NotARegistry, false, []string{
			"text/html", "<html", "<!doctype", "invalid character '<'",
		}},
		{cause.RegistryUnreachable, false, []string{"proxy authentication required"}},
		{cause.ImageBlocked, false, []string{
			"vulnerabilit", "configured policy", "412 precondition failed", "quarantine", "blocked by",
			"policy violation", "projectpolicyviolation",
			"denied by policy", "blocking policy", "signed by cosign", "signed in cosign", "signed in notary",
		}},
		{cause.ImageUnsigned, false, []string{
			"signature was required", "signature validation failed",
			"signaturevalidationfailed", "no matching signatures", "invalid signature", "is not signed",
		}},
		{cause.ImageShortName, false, []string{"short-name", "short name"}},
		{cause.RegistryUntrusted, false, []string{
			"x509:", "certificate signed by unknown authority", "tls: failed to verify",
			"bad certificate",
		}},
		{
			cause.RegistryPlainHTTP, false,
			[]string{"http response to https", "first record does not look like a tls handshake"},
		},
		{cause.ImageUnsupported, false, []string{
			"is no longer supported", "unsupported manifest", "unsupported media type", "unknown media type",
			"unexpected media type", "schema 1",
		}},
		{cause.ImagePullDenied, false, []string{
			"denied", "unauthorized", "authentication required", "authorization token has expired",
			"authorization failed", "403 forbidden", "insufficient_scope", "no basic auth credentials",
		}},
		{cause.RegistryUnreachable, false, []string{"no such host"}},
		{cause.RegistryUnreachable, true, []string{
			"connection refused", "connection reset", "i/o timeout", "tls handshake", "deadline exceeded",
			"client.timeout exceeded", "network is unreachable", "no route to host", "server misbehaving",
			"temporary failure in name resolution", "unexpected eof", "500 internal server error", "502 bad gateway",
			"503 service unavailable", "504 gateway",
		}},
		{cause.OSMismatch, false, []string{
			"no matching manifest for windows", "operating system does not match", "image operating system",
		}},
		{cause.ImageWrongPlatform, false, []string{"no match for platform", "no matching manifest"}},
		{cause.ImageNotFound, false, []string{
			"not found", "manifest unknown", "name unknown", "manifest_unknown",
			"does not exist",
		}},
		{cause.ImagePullFailed, true, []string{"pull qps exceeded"}}, // the kubelet's own limit
	}
}

// Statuses come before all words: what a server in trouble, or one that refuses, sends with them may be a page.
const (
	serverError pattern.Expr = `unexpected status.*: 5\d\d\b|http 5\d\d response body|\b50[0234] (?:internal ` +
		`server|bad gateway|service|gateway)`
	refusedError pattern.Expr = `http 40[13] response body`
)

// pullCode sorts the cause of a failed pull and says whether it is known to
// pass. There is only text to go by.
func pullCode(text string) (code string, passes bool) {
	text = strings.ToLower(text)
	switch {
	case serverError.MatchString(text):
		return cause.RegistryUnreachable, true
	case refusedError.MatchString(text):
		return cause.ImagePullDenied, false
	}
	for _, kind := range pullKinds() {
		for _, word := range kind.words {
			if strings.Contains(text, word) {
				return kind.code, kind.passes
			}
		}
	}
	return cause.ImagePullFailed, false
}

// The layers of wrapping around the cause of a failed pull.
const pullWrapping pattern.Expr = `^(?:` +
	`Failed to pull image "[^"]*": |` +
	`Back-off pulling image "[^"]*": |` +
	`ErrImagePull: |` +
	`rpc error: code = \w+ desc = |` +
	`failed to pull and unpack image "[^"]*": |` +
	`failed to resolve reference "[^"]*": |` +
	`failed to resolve image: |` +
	`failed to do request: |` +
	`Error: |` +
	`SignatureValidationFailed: |` +
	`RegistryUnavailable: )`

// trimPull takes the wrapping off: what is left is what the registry, or the
// network, said.
func trimPull(message string) string {
	if _, inner, ok := strings.Cut(message, "signature validation failed: "); ok {
		message = inner
	}
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

const pullSecret pattern.Expr = `Unable to retrieve some image pull secrets \(([^)]+)\)`

// WithSecret adds to a pull that was denied which of the pod's pull secrets do not
// exist: the registry was asked without them.
func WithSecret(f *cause.Finding, events []*corev1.Event) *cause.Finding {
	e := evidence.Latest(events, "FailedToRetrieveImagePullSecret")
	if f.Code != cause.ImagePullDenied || e == nil {
		return f
	}
	if m := pullSecret.FindStringSubmatch(e.Message); m != nil {
		f.Message += fmt.Sprintf(" (pull secret %s does not exist)", m[1])
	}
	return f
}

// SlowPull is an image that has been coming since a time.
func SlowPull(container, image string, since time.Time) *cause.Finding {
	f := of(evidence.Container{Name: container}, cause.SlowPull, "", "image %s has been coming", image)
	f.Begun = since
	return f
}
