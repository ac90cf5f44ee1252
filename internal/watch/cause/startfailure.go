package cause

import (
	"strings"

	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// notCreated is a container that cannot be created or started as it is specified.
func notCreated(c evidence.Container) (Finding, bool) {
	reason, message, _ := c.Waiting()
	switch reason {
	case badConfig, createFailed, runFailed, evidence.StartError:
		return notStarted(c, reason, message), !passing(message)
	}
	return Finding{}, false
}

// notStarted is what the runtime's words for a container that did not start mean.
func notStarted(c evidence.Container, reason, message string) Finding {
	code := startCode(message)
	if code == OutOfMemory {
		return of(c, code, reason, "%s", memoryText(c))
	}
	return of(c, code, reason, "%s", trimStart(message))
}

// passing tells a node that is slow from a configuration that is wrong.
func passing(message string) bool {
	switch {
	case strings.Contains(message, "failed to sync") && strings.Contains(message, "cache"),
		strings.Contains(message, "context deadline exceeded"),
		strings.Contains(message, "DeadlineExceeded"),
		strings.Contains(message, "failed to reserve container name"),
		strings.Contains(message, "is reserved for"),
		strings.Contains(message, "is already in use by"),
		strings.Contains(message, "services have not yet been read"):
		return true
	}
	return false
}

// startFailure is a kind of failed start, and the words by which it is recognized.
type startFailure struct {
	code  string
	words pattern.Expr
}

const (
	wrongFormat   pattern.Expr = `exec format error|cannot execute binary file`
	rootRefused   pattern.Expr = `runAsNonRoot`
	badMount      pattern.Expr = `(?i)subPath|error mounting|directory onto a file|invalid mount|is mounted on .* but it is not`
	missingConfig pattern.Expr = `couldn't find key|(?:configmap|secret) "[^"]*" not found|references non-existent`
	noProgram     pattern.Expr = `executable file not found|exec: .*no such file or directory|\bexec \S+: no such file or directory`
	notExecutable pattern.Expr = `exec: .*(?:permission denied|is a directory)|\bexec \S+: permission denied`
	fullDisk      pattern.Expr = `no space left on device|disk quota exceeded`
	tooLittle     pattern.Expr = `OOM-killed|memory limit too low`
)

// startFailures are in the order in which they are looked for.
func startFailures() []startFailure {
	return []startFailure{
		{ExecFormat, wrongFormat},
		{RootRefused, rootRefused},
		{BadMount, badMount},
		{ConfigMissing, missingConfig},
		{CommandNotFound, noProgram},
		{NotExecutable, notExecutable},
		{NodeDiskFull, fullDisk},
		{OutOfMemory, tooLittle},
	}
}

// startCode sorts the runtime's words for a container that did not start.
func startCode(message string) string {
	if passing(message) {
		return RuntimeSlow
	}
	for _, known := range startFailures() {
		if known.words.MatchString(message) {
			return known.code
		}
	}
	return StartFailed
}

// trimStart leaves what runc or the kubelet said of the wrapping around it.
func trimStart(message string) string {
	if _, inner, ok := strings.Cut(message, "unable to start container process: "); ok {
		message = "cannot start: " + strings.TrimPrefix(inner, "error during container init: ")
	}
	return strings.TrimSuffix(strings.TrimSpace(message), ": unknown")
}
