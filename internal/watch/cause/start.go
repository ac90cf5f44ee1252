package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a container is not created or started.
const (
	ConfigMissing   = "ConfigMissing"   // a ConfigMap, Secret or key in the environment
	CommandNotFound = "CommandNotFound" // the executable is not in the image
	NotExecutable   = "NotExecutable"   // it is, but may not be executed
	ExecFormat      = "ExecFormat"      // the executable is for another architecture
	BadMount        = "BadMount"        // a volume cannot be put where it shall be
	RootRefused     = "RootRefused"     // runAsNonRoot, and the image's user is root
	RuntimeSlow     = "RuntimeSlow"     // the node does not get to it in time
	StartFailed     = "StartFailed"     // could not be created or started otherwise
)

const (
	badConfig    = "CreateContainerConfigError"
	createFailed = "CreateContainerError"
	runFailed    = "RunContainerError"
	cannotRun    = "ContainerCannotRun"
)

// command says what to do about a program that is not there.
func command(c v1.Cause, a About) string {
	if a.isWorkspace() {
		return "a workspace needs a /bin/sh. Use another image: " + a.field(v1.Cause{}, imageField(c.Container), "image")
	}
	return `correct "command" in the pod's spec, or use an image that has the program`
}

// refusedStart says what to change by the runtime's words.
func refusedStart(c v1.Cause, a About) string {
	for _, known := range []struct{ words, text string }{
		{"chdir to cwd", "The working directory does not exist in the image, or the container's user may not enter it: correct \"workingDir\" in " + a.spec() + "."},
		{"unable to find user", "The image has no user of that name: set securityContext.runAsUser to a number in " +
			a.spec() + "."},
		{
			"no matching entries in passwd",
			"The image has no user of that name: set securityContext.runAsUser to a number in " + a.spec() + ".",
		},
		{"seccomp", "The seccomp profile that the pod asks for is not on the node: install it there, or use RuntimeDefault in " + a.spec() + "."},
		{"apparmor", "The AppArmor profile that the pod asks for is not on the node: load it there, or use RuntimeDefault in " + a.spec() + "."},
		{"nvidia", "The node's GPU driver does not answer: use another node, or ask your cluster administrator."},
	} {
		if strings.Contains(strings.ToLower(c.Message), known.words) {
			return known.text
		}
	}
	return "The container runtime of the node could not start the container, and its message says why. Change what it names in " + a.spec() + "."
}

const (
	noKey    pattern.Expr = `couldn't find key (\S+) in (ConfigMap|Secret) (?:\S+/)?(\S+)`
	noObject pattern.Expr = `(configmap|secret) "([^"]*)" not found`
	noClass  pattern.Expr = `storageclass\.storage\.k8s\.io "([^"]*)" not found`
)

// missing names what does not exist, and the command that creates it.
func missing(c v1.Cause, a About) string {
	if m := noKey.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("%s %s has no key %s: add it with `kubectl edit %s %s%s`.", m[2], m[3], m[1],
			strings.ToLower(m[2]), m[3], a.option())
	}
	if m := noSuchKey.FindStringSubmatch(c.Message); m != nil {
		kind := map[string]string{"secret": "Secret", "config": "ConfigMap"}[m[1]]
		return fmt.Sprintf("The %s has no key %s, which the volume in %s names: add it, or correct the key.", kind, m[2],
			a.spec())
	}
	if m := noObject.FindStringSubmatch(c.Message); m != nil {
		if id := strings.TrimPrefix(c.Object, "pod/"); a.isWorkspace() && m[2] == kube.CertificateSecret(id) {
			return fmt.Sprintf("The certificate of the workspace has not been issued yet: `kubectl describe certificate %s%s` says why.", id, a.option())
		}
		kind, create := "ConfigMap", "configmap"
		if m[1] == "secret" {
			kind, create = "Secret", "secret generic"
		}
		return fmt.Sprintf("%s %s does not exist: create it with `kubectl create %s %s%s --from-literal=KEY=VALUE`.", kind,
			m[2], create, m[2], a.option())
	}
	if m := noClass.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Storage class %s does not exist.", m[1])
	}
	return "Something that the pod needs does not exist: create what the message names in the namespace."
}

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
