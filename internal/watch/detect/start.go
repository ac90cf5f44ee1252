package detect

import (
	"strings"

	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

const (
	badConfig    = "CreateContainerConfigError"
	createFailed = "CreateContainerError"
	runFailed    = "RunContainerError"
	cannotRun    = "ContainerCannotRun"
)

// NotCreated is a container that cannot be created or started as it is specified.
func NotCreated(c evidence.Container) *cause.Finding {
	reason, message, _ := c.Waiting()
	switch reason {
	case badConfig, createFailed, runFailed, evidence.StartError:
		if !evidence.NodeIsSlow(message) {
			return NotStarted(c)
		}
	}
	return nil
}

// NotStarted is what the words mean with which a container waits, whatever the reason.
func NotStarted(c evidence.Container) *cause.Finding {
	reason, message, _ := c.Waiting()
	code, text := notStarted(c, message)
	return of(c, code, reason, "%s", text)
}

// EndedAtStart is the newest instance that ended, if it did before its program began; RuntimeSlow if the node was slow.
func EndedAtStart(c evidence.Container) *cause.Finding {
	t := c.Ended()
	if t == nil || t.Reason != evidence.StartError && t.Reason != cannotRun {
		return nil
	}
	code, text := notStarted(c, t.Message)
	return exited(c, code, t, text)
}

// notStarted is what the runtime's words for a container that did not start mean.
func notStarted(c evidence.Container, message string) (code, text string) {
	if code = startCode(message); code == cause.OutOfMemory {
		return code, memoryText(c)
	}
	return code, trimStart(message)
}

// startFailure is a kind of failed start, and the words by which it is recognized.
type startFailure struct {
	code  string
	words pattern.Expr
}

const (
	rootRefused pattern.Expr = `runAsNonRoot`
	badMount    pattern.Expr = `(?i)subPath|error mounting|directory onto a file|invalid mount` +
		`|is mounted on .* but it is not`
	missingConfig pattern.Expr = `couldn't find key|(?:configmap|secret) "[^"]*" not found|references non-existent`
	noProgram     pattern.Expr = `executable file not found|exec: .*no such file or directory` +
		`|\bexec \S+: no such file or directory`
	notExecutable pattern.Expr = `exec: .*(?:permission denied|is a directory)|\bexec \S+: permission denied`
	fullDisk      pattern.Expr = `no space left on device|disk quota exceeded`
	tooLittle     pattern.Expr = `OOM-killed|memory limit too low`
	otherSystem   pattern.Expr = `(?i)operating system (?:of the container )?does not match|0xc0370101` +
		`|hcs::CreateComputeSystem.*version|image operating system "[^"]*" cannot be used`
	noIDMaps pattern.Expr = `(?i)MOUNT_ATTR_IDMAP|idmap(?:ped)? mount|mount_setattr`
)

// startFailures are in the order in which they are looked for.
func startFailures() []startFailure {
	return []startFailure{
		{cause.ExecFormat, wrongFormat},
		{cause.OSMismatch, otherSystem},
		{cause.NoIDMaps, noIDMaps},
		{cause.TooManyOpenFiles, wordsOfFiles},
		{cause.RootRefused, rootRefused},
		{cause.BadMount, badMount},
		{cause.ConfigMissing, missingConfig},
		{cause.CommandNotFound, noProgram},
		{cause.NotExecutable, notExecutable},
		{cause.NodeDiskFull, fullDisk},
		{cause.OutOfMemory, tooLittle},
	}
}

// startCode sorts the runtime's words for a container that did not start.
func startCode(message string) string {
	if evidence.NodeIsSlow(message) {
		return cause.RuntimeSlow
	}
	for _, known := range startFailures() {
		if known.words.MatchString(message) {
			return known.code
		}
	}
	return cause.StartFailed
}

// trimStart leaves what runc or the kubelet said of the wrapping around it.
func trimStart(message string) string {
	if _, inner, ok := strings.Cut(message, "unable to start container process: "); ok {
		message = "cannot start: " + strings.TrimPrefix(inner, "error during container init: ")
	}
	return strings.TrimSuffix(strings.TrimSpace(message), ": unknown")
}
