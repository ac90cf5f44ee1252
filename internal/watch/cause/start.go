package cause

import (
	"fmt"
	"regexp"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a container is not created or started.
const (
	ConfigMissing   = "ConfigMissing"   // a ConfigMap, Secret or key in the environment
	CommandNotFound = "CommandNotFound" // the executable is not in the image
	ExecFormat      = "ExecFormat"      // the executable is for another architecture
	StartFailed     = "StartFailed"     // could not be created or started otherwise
)

const (
	badConfig    = "CreateContainerConfigError"
	createFailed = "CreateContainerError"
	runFailed    = "RunContainerError"
	cannotRun    = "ContainerCannotRun"
)

func start() []entry {
	reasons := []string{createFailed, runFailed, evidence.StartError, cannotRun}
	return []entry{
		{code: ConfigMissing, reasons: []string{badConfig}, why: missing, hint: "{why} Or leave it out in {spec}. Kubernetes keeps trying."},
		{code: CommandNotFound, reasons: reasons, exact: true, why: command, hint: "The image has no such program: {why}. {again}"},
		{code: ExecFormat, reasons: reasons, exact: true, hint: "The program is built for another processor than the node's (`kubectl get nodes --label-columns kubernetes.io/arch`), " +
			"or is a script without #! in its first line. Use an image for the node's platform in {image-field}. {again}"},
		{
			code: StartFailed, reasons: reasons, exact: true,
			hint: "The node could not start the container. Check command, mounts and security context in {spec}. {again}",
		},
	}
}

// notCreated is a container that cannot be created or started as it is specified.
func notCreated(c evidence.Container) (Finding, bool) {
	reason, message, _ := c.Waiting()
	switch reason {
	case badConfig:
		return of(c, ConfigMissing, reason, "%s", trimStart(message)), !passing(message)
	case createFailed, runFailed, evidence.StartError:
		return of(c, startCode(message), reason, "%s", trimStart(message)), !passing(message)
	}
	return Finding{}, false
}

// passing tells a node that is slow from a configuration that is wrong.
func passing(message string) bool {
	return strings.Contains(message, "failed to sync") && strings.Contains(message, "cache") ||
		strings.Contains(message, "context deadline exceeded")
}

// slowCode is for reasons to wait that are read as passing because of their
// message.
func slowCode(reason string) string {
	if reason == badConfig {
		return ConfigMissing
	}
	return StartFailed
}

// startCode sorts the runtime's words for a container that did not start.
func startCode(message string) string {
	switch {
	case strings.Contains(message, "exec format error"):
		return ExecFormat
	case strings.Contains(message, "executable file not found"),
		strings.Contains(message, "exec: ") && strings.Contains(message, "no such file or directory"):
		return CommandNotFound
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

// command says what to do about a program that is not there.
func command(c v1.Cause, a About) string {
	if a.Blueprint != "" {
		return "a workspace needs a /bin/sh. Use another image: " + a.field(v1.Cause{}, imageField(c.Container), "image")
	}
	return `correct "command" in the pod's spec, or use an image that has the program`
}

var (
	noKey    = regexp.MustCompile(`couldn't find key (\S+) in (ConfigMap|Secret) (?:\S+/)?(\S+)`)
	noObject = regexp.MustCompile(`(configmap|secret) "([^"]*)" not found`)
	noClass  = regexp.MustCompile(`storageclass\.storage\.k8s\.io "([^"]*)" not found`)
)

// missing names what does not exist, and the command that creates it.
func missing(c v1.Cause, a About) string {
	if m := noKey.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("%s %s has no key %s: add it with `kubectl edit %s %s%s`.", m[2], m[3], m[1], strings.ToLower(m[2]), m[3], a.option())
	}
	if m := noSuchKey.FindStringSubmatch(c.Message); m != nil {
		kind := map[string]string{"secret": "Secret", "config": "ConfigMap"}[m[1]]
		return fmt.Sprintf("The %s has no key %s, which the volume in %s names: add it, or correct the key.", kind, m[2], a.spec())
	}
	if m := noObject.FindStringSubmatch(c.Message); m != nil {
		if id := strings.TrimPrefix(c.Object, "pod/"); a.Blueprint != "" && m[2] == kube.CertificateSecret(id) {
			return fmt.Sprintf("The certificate of the workspace has not been issued yet: `kubectl describe certificate %s%s` says why.", id, a.option())
		}
		kind, create := "ConfigMap", "configmap"
		if m[1] == "secret" {
			kind, create = "Secret", "secret generic"
		}
		return fmt.Sprintf("%s %s does not exist: create it with `kubectl create %s %s%s --from-literal=KEY=VALUE`.", kind, m[2], create, m[2], a.option())
	}
	if m := noClass.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Storage class %s does not exist.", m[1])
	}
	return "Something that the pod needs does not exist: create what the message names in the namespace."
}
