package cause

import (
	"fmt"
	"slices"
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

func start() []entry { return slices.Concat(startConfig(), startProgram(), startOther()) }

// startReasons are Kubernetes' words for a container that does not start.
func startReasons(others ...string) []string {
	return append(others, createFailed, runFailed, evidence.StartError, cannotRun)
}

// startConfig are the causes for which the kubelet does not even ask the runtime.
func startConfig() []entry {
	return []entry{
		{
			code: ConfigMissing, reasons: []string{badConfig}, exact: true, why: missing, hint: "{why} Or leave it out in {spec}. Kubernetes keeps trying.",
			explanation: explanation{
				title:    "A ConfigMap, a Secret or a key of one is missing",
				meaning:  "The container's environment is to be filled from a ConfigMap or a Secret that does not exist in the pod's namespace, or that does not have the key.",
				signs:    []string{"`kubectl get pods`: CreateContainerConfigError", "An event Failed with \"secret … not found\" or \"couldn't find key … in ConfigMap\""},
				remedies: []string{"Create what is missing: in the same namespace, and with exactly that name and key.", "Mark the reference as optional, if the program does without."},
				passes:   "As soon as it exists: the kubelet keeps trying.",
				example:  "start/key-missing",
			},
		},
		{
			code: RootRefused, reasons: []string{badConfig}, exact: true,
			hint: "The pod must not run as root (runAsNonRoot), and its image does, or does not say a number. Set securityContext.runAsUser to a number such as 1000 in {spec}, or use an image that has a USER with a number. {again}",
			explanation: explanation{
				title:    "The image's user is root, and that is not allowed",
				meaning:  "The security context says runAsNonRoot: true. The image runs as root, or names its user by a word, of which the kubelet cannot tell whether it is root.",
				signs:    []string{"`kubectl get pods`: CreateContainerConfigError", "\"container has runAsNonRoot and image will run as root\" or \"image has non-numeric user\""},
				remedies: []string{"Set runAsUser to a number other than 0.", "Or give the image a USER with a number.", "See whether the program works as that user: it must not need ports below 1024 or files of root."},
				example:  "start/run-as-non-root",
			},
		},
	}
}

// startProgram are the causes for which the program does not run.
func startProgram() []entry {
	return []entry{
		{
			code: CommandNotFound, reasons: startReasons(), exact: true, why: command, hint: "The image has no such program: {why}. {again}",
			explanation: explanation{
				title:    "The program is not in the image",
				meaning:  "The command of the container names a program that the image does not have, or not where it is looked for.",
				signs:    []string{"`kubectl get pods`: RunContainerError or CrashLoopBackOff", "\"executable file not found in $PATH\" or \"no such file or directory\" in the container's message"},
				remedies: []string{"Correct the command: one word in each element of the list, [\"sh\", \"-c\", \"…\"] for a line of a shell.", "Use an image that has the program: small ones often have no shell.", "If it is a script: its first line names an interpreter that is missing, or it has the line ends of Windows."},
				example:  "collected/b33-not-in-path",
			},
		},
		{
			code: NotExecutable, reasons: startReasons(), exact: true,
			hint: "The file that the container shall start is there, but may not be executed by the user that the container runs as, or is a directory. Make it executable in the image (`chmod +x`), " +
				"or for a file from a ConfigMap or Secret set defaultMode: 0755. {again}",
			explanation: explanation{
				title:    "The program may not be executed",
				meaning:  "The file that the container is to start exists, but is not executable for the user that the container runs as, or it is a directory.",
				signs:    []string{"`kubectl get pods`: RunContainerError or CrashLoopBackOff", "\"exec: … permission denied\" in the container's message"},
				remedies: []string{"`RUN chmod +x` in the image's Dockerfile.", "For a file of a ConfigMap or Secret: defaultMode: 0755 at its volume.", "See whether the volume is mounted noexec, and whether the path is a directory."},
				example:  "start/not-executable",
			},
		},
		{
			code: ExecFormat, reasons: startReasons(), exact: true,
			hint: "The program is built for another processor than the node's (`kubectl get nodes --label-columns kubernetes.io/arch`), " +
				"or is a script without #! in its first line. Use an image for the node's platform in {image-field}. {again}",
			explanation: explanation{
				title:    "The program is built for another processor",
				meaning:  "The node cannot execute the program: it is machine code for another processor, such as arm64 on an amd64 node, or a script that does not say what interprets it.",
				signs:    []string{"\"exec format error\" in the message of the container that ended, or in its log"},
				remedies: []string{"Build the image for the node's platform: `docker buildx build --platform linux/amd64`.", "If it is a script, begin it with #!/bin/sh."},
				example:  "crash/exec-format-words",
			},
		},
	}
}

func startOther() []entry {
	return []entry{
		{
			code: BadMount, reasons: startReasons(badConfig), exact: true,
			hint: "The node cannot put a volume where the container wants it: a directory cannot be mounted onto a file, nor a file onto a directory, " +
				"and a subPath has to exist in the volume or to be creatable there. Correct mountPath or subPath of the volume in {spec}. {again}",
			explanation: explanation{
				title:    "A volume cannot be mounted into the container",
				meaning:  "The volume is on the node, but it cannot be put where the container wants it: it is a directory and the image has a file there, the subPath does not exist, or the root file system may not be written.",
				signs:    []string{"\"not a directory: Are you trying to mount a directory onto a file\" in the container's message", "CreateContainerConfigError with \"failed to prepare subPath for volumeMount\""},
				remedies: []string{"With subPath, name the file: subPath: config.yaml and mountPath: /etc/app/config.yaml.", "See whether the ConfigMap has that key: of a key that is missing a directory is made.", "Mount the whole volume on a directory of its own."},
				example:  "start/subpath",
			},
		},
		{
			code: RuntimeSlow, reasons: startReasons(badConfig), exact: true,
			hint: "The node is slow: its container runtime or its kubelet did not get to the container in time. There is nothing to change in the pod: Kubernetes keeps trying. " +
				"If this lasts, the node is overloaded or its disk is slow: see `kubectl describe node`, or try on another node.",
			explanation: explanation{
				title:    "The node is too slow to start the container",
				meaning:  "The kubelet asked the container runtime to create the container, and got no answer in time; or it does not have the Secrets and ConfigMaps of the pod yet. What it says next, that a name is reserved, only means that the first attempt is still going on.",
				signs:    []string{"CreateContainerError with \"context deadline exceeded\" or \"failed to reserve container name\"", "CreateContainerConfigError with \"failed to sync secret cache: timed out\""},
				remedies: []string{"Wait some minutes.", "If it stays, look at the node: `kubectl describe node`, and its load and disk.", "Restart the container runtime of the node, or drain it, if all of its pods have this."},
				passes:   "When the node has caught up.",
				example:  "start/name-reserved",
			},
		},
		{
			code: StartFailed, reasons: startReasons(badConfig), exact: true, why: refusedStart, hint: "{why} {again}",
			explanation: explanation{
				title:    "The container could not be started",
				meaning:  "The container runtime of the node refused the container as it is specified. Its message says what it did not like.",
				signs:    []string{"`kubectl get pods`: CreateContainerError, RunContainerError or StartError", "`kubectl describe pod`: an event Failed with the runtime's words"},
				remedies: []string{"Read the message to its end: the reason stands last.", "Change what it names: working directory, user, devices, or security profile."},
				example:  "start/no-such-user",
			},
		},
	}
}

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
		{"unable to find user", "The image has no user of that name: set securityContext.runAsUser to a number in " + a.spec() + "."},
		{"no matching entries in passwd", "The image has no user of that name: set securityContext.runAsUser to a number in " + a.spec() + "."},
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
		return fmt.Sprintf("%s %s has no key %s: add it with `kubectl edit %s %s%s`.", m[2], m[3], m[1], strings.ToLower(m[2]), m[3], a.option())
	}
	if m := noSuchKey.FindStringSubmatch(c.Message); m != nil {
		kind := map[string]string{"secret": "Secret", "config": "ConfigMap"}[m[1]]
		return fmt.Sprintf("The %s has no key %s, which the volume in %s names: add it, or correct the key.", kind, m[2], a.spec())
	}
	if m := noObject.FindStringSubmatch(c.Message); m != nil {
		if id := strings.TrimPrefix(c.Object, "pod/"); a.isWorkspace() && m[2] == kube.CertificateSecret(id) {
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
