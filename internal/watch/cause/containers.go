package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
)

const noSecret pattern.Expr = `\(pull secret (.+) does not exist\)`

// login is how the node gets to log in to a registry.
func login(c v1.Cause, a About) string {
	if m := noSecret.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("The registry wants a login, and the pod's pull secret %s does not exist: create it with "+
			"`kubectl create secret docker-registry %s%s --docker-server=HOST --docker-username=USER --docker-password=PASSWORD`. Kubernetes keeps trying.", m[1], m[1], a.option())
	}
	return fmt.Sprintf("The registry is private or has no such image. Check %s; if it is right, the namespace needs a pull secret: "+
		"`kubectl create secret docker-registry registry%s --docker-server=HOST --docker-username=USER --docker-password=PASSWORD`, then "+
		"`kubectl patch serviceaccount default%s -p '{\"imagePullSecrets\":[{\"name\":\"registry\"}]}'`. %s",
		a.field(c, imageField(c.Container), "image"), a.option(), a.option(), a.again())
}

// distrust says what a certificate lacks.
func distrust(c v1.Cause, a About) string {
	switch {
	case strings.Contains(c.Message, "expired"):
		return "The registry's certificate has expired, or a clock is wrong: have the certificate renewed."
	case strings.Contains(c.Message, "is valid for"), strings.Contains(c.Message, "doesn't contain any IP SANs"),
		strings.Contains(c.Message, "cannot validate certificate for"):
		return "The registry's certificate is for another host name: use that one in " +
			a.field(c, imageField(c.Container), "image") + ", or have the certificate issued for this one."
	}
	return "The node does not trust the registry's certificate. Have the certificate of the authority that signed it added on every node (containerd: /etc/containerd/certs.d/HOST/hosts.toml)."
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
	noKey   pattern.Expr = `couldn't find key (\S+) in (ConfigMap|Secret) (?:\S+/)?(\S+)`
	noClass pattern.Expr = `storageclass\.storage\.k8s\.io "([^"]*)" not found`
)

// missing names what does not exist, and the command that creates it.
func missing(c v1.Cause, a About) string {
	if m := noKey.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("%s %s has no key %s: add it with `kubectl edit %s %s%s`.", m[2], m[3], m[1],
			strings.ToLower(m[2]), m[3], a.option())
	}
	if m := NoSuchKey.FindStringSubmatch(c.Message); m != nil {
		kind := map[string]string{"secret": "Secret", "config": "ConfigMap"}[m[1]]
		return fmt.Sprintf("The %s has no key %s, which the volume in %s names: add it, or correct the key.", kind, m[2],
			a.spec())
	}
	if m := NoObject.FindStringSubmatch(c.Message); m != nil {
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

// probed is what a probe has to do with the end of a container.
func probed(c v1.Cause, a About) string {
	if !strings.Contains(c.Message, "probe failed") {
		return ended(c, a)
	}
	return "It is ended because of its probe, which may be given more time (initialDelaySeconds, timeoutSeconds, a startup probe). " + answer(c, a)
}

// ended says in words how a container ended.
func ended(c v1.Cause, _ About) string { return exitText(c.ExitCode) }

// exitText says in words what an exit code means. Codes above 128 are
// signals; 126 and 127 are what a shell says.
func exitText(code *int) string {
	if code == nil {
		return ""
	}
	switch n := *code; {
	case n == 0:
		return "It ended by itself, with exit code 0, though it should keep running."
	case n == 126:
		return "Exit code 126: a program was found, but may not be executed."
	case n == 127:
		return "Exit code 127: a program was not found."
	case signals()[n-128] != "":
		return fmt.Sprintf("Exit code %d is %s.", n, signals()[n-128])
	default:
		return fmt.Sprintf("Its program ended with exit code %d.", n)
	}
}

// signals by their numbers on Linux, which is where the containers are, and
// what usually sends them.
func signals() map[int]string {
	return map[int]string{
		1:  "SIGHUP: its terminal went away",
		2:  "SIGINT: it was interrupted",
		3:  "SIGQUIT: it was asked to quit",
		4:  "SIGILL: an instruction that this processor does not have",
		6:  "SIGABRT: the program aborted itself, as after a failed assertion",
		7:  "SIGBUS: memory that cannot be reached, as when /dev/shm is full",
		8:  "SIGFPE: an impossible calculation, such as a division by zero",
		9:  "SIGKILL: it was killed from outside, as after a failing liveness probe or a stop that took too long",
		11: "SIGSEGV: the program crashed by using memory that is not its own",
		13: "SIGPIPE: the reader of its output went away",
		15: "SIGTERM: it was asked to terminate",
	}
}

// answer says what a probe asks for, and what the answer means.
func answer(c v1.Cause, a About) string {
	for _, known := range []struct{ words, text string }{
		{"connection refused", "Nothing listens on that port: the program needs more time, has ended, or listens on another port or on 127.0.0.1 only."},
		{"statuscode: 404", "The program answers, but has no such path: correct the path of the probe in " + a.spec() + "."},
		{"statuscode: 401", "The program answers, but wants a login: have the probe ask for a path that does without."},
		{"statuscode: 403", "The program answers, but wants a login: have the probe ask for a path that does without."},
		{"statuscode: 5", "The program answers, and says that it is not well."},
		{"HTTP response to HTTPS client", "The program speaks HTTP: set the scheme of the probe to HTTP in " + a.spec() +
			"."},
		{"no such file or directory", "The image has no such program: correct the command of the probe in " + a.spec() + "."},
		{"executable file not found", "The image has no such program: correct the command of the probe in " + a.spec() + "."},
		{"deadline exceeded", "It does not answer in time: raise timeoutSeconds of the probe in " + a.spec() +
			", or see what keeps it busy."},
		{"timed out", "It does not answer in time: raise timeoutSeconds of the probe in " + a.spec() +
			", or see what keeps it busy."},
		{"Client.Timeout", "It does not answer in time: raise timeoutSeconds of the probe in " + a.spec() +
			", or see what keeps it busy."},
	} {
		if strings.Contains(c.Message, known.words) {
			return asked(a) + " " + known.text
		}
	}
	return asked(a) + " It may need more time, or listen on another port or address."
}

// asked says what the probe asks for.
func asked(a About) string {
	if a.Probe == "" {
		return "The probe that checks it gets no good answer."
	}
	return "The probe asks for " + a.Probe + " and gets no good answer."
}

// silentStart says where to look.
func silentStart(_ v1.Cause, a About) string {
	if a.Probe == "" {
		return "It has no probe, so that it should be ready at once: the node may have stopped reporting (`kubectl get nodes`)."
	}
	return "Its probe asks for " + a.Probe + "; no event says what it gets, as they are kept for an hour."
}
