package cause

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
)

const (
	noSecret pattern.Expr = `\(pull secret (.+) does not exist\)`
	expired  pattern.Expr = `(?i)\b(?:token|login|credentials?|password)\b[^:/]* (?:has |have |is |are )?expired`
)

// login is how the node gets to log in to a registry.
func login(c v1.Cause, a About) string {
	if m := noSecret.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("The registry wants a login, and the pod's pull secret %s does not exist: create it with "+
			"`%s`. Kubernetes keeps trying.", m[1], a.pullSecret(m[1]))
	}
	if expired.MatchString(c.Message) {
		return expiredLogin(a)
	}
	return fmt.Sprintf("The registry is private or has no such image. Check %s; if it is right, the namespace needs "+
		"a pull secret: `%s`, then "+
		"`kubectl patch serviceaccount default%s -p '{\"imagePullSecrets\":[{\"name\":\"registry\"}]}'`. %s",
		a.imageOf(c), a.pullSecret("registry"), a.option(), a.again())
}

// pullSecret is the command that creates a pull secret for the registry of the image.
func (a About) pullSecret(name string) string {
	return fmt.Sprintf("kubectl create secret docker-registry %s%s --docker-server=%s --docker-username=USER "+
		"--docker-password=PASSWORD", name, a.option(), a.registry())
}

// registry is the host that an image names, or HOST.
func (a About) registry() string {
	host, _, ok := strings.Cut(a.Image, "/")
	if !ok || !strings.ContainsAny(host, ".:") {
		return "HOST"
	}
	return host
}

// expiredLogin names what has the login that is not valid any more.
func expiredLogin(a About) string {
	renew := "`kubectl create secret docker-registry %[1]s --docker-server=%[3]s --docker-username=USER " +
		"--docker-password=TOKEN%[2]s --dry-run=client --output yaml | kubectl apply -f -`"
	switch len(a.PullSecrets) {
	case 0:
		return "The login that the node sends has expired: its own credential provider has to renew it, " +
			"which is for your " +
			"cluster administrator, or the namespace needs a pull secret with a new token. Kubernetes keeps trying."
	case 1:
		return fmt.Sprintf("The token in pull secret %[1]s has expired. Renew it: "+renew+". Kubernetes keeps trying.",
			a.PullSecrets[0], a.option(), a.registry())
	}
	return "The token in one of the pull secrets " + strings.Join(a.PullSecrets, ", ") +
		" has expired: renew that of this " +
		"registry. Kubernetes keeps trying."
}

// providerText says what the provider behind a virtual node lacks, in the words of the API server: secrets "acr" not
// found.
func providerText(c v1.Cause, a About) string {
	c.Message = strings.NewReplacer(`secrets "`, `secret "`, `configmaps "`, `configmap "`).Replace(c.Message)
	if NoObject.MatchString(c.Message) {
		return missing(c, a)
	}
	if providerDown.MatchString(c.Message) {
		return "The service behind the node did not answer as it should: that may pass."
	}
	return "Correct what the message names."
}

// providerDown is how a provider says that its service was in trouble, and not that something is wrong with the pod.
const providerDown pattern.Expr = `(?i)status code (?:5\d\d|429)|ServerTimeout|TooManyRequests|timed out` +
	`|deadline exceeded`

// distrust says what a certificate lacks.
func distrust(c v1.Cause, a About) string {
	switch {
	case strings.Contains(c.Message, "expired"):
		return "The registry's certificate has expired, or a clock is wrong: have the certificate renewed."
	case strings.Contains(c.Message, "is valid for"), strings.Contains(c.Message, "doesn't contain any IP SANs"),
		strings.Contains(c.Message, "cannot validate certificate for"):
		return "The registry's certificate is for another host name: use that one in " +
			a.imageOf(c) + ", or have the certificate issued for this one."
	}
	return "The node does not trust the registry's certificate. Have the certificate of the authority that signed it " +
		"added on every node (containerd: /etc/containerd/certs.d/HOST/hosts.toml)."
}

// command says what to do about a program that is not there.
func command(c v1.Cause, a About) string {
	if a.isWorkspace() {
		return "a workspace needs a /bin/sh. Use another image: " +
			a.field(v1.Cause{}, imageField(c.Container), "image")
	}
	return `correct "command" in the pod's spec, or use an image that has the program`
}

// outOfMemory says what a container used too much of. That it has no limit is said only where its pod was read.
func outOfMemory(c v1.Cause, a About) string {
	limit := a.Memory
	if _, read, ok := strings.Cut(c.Message, LimitIs); ok && limit == "" {
		limit, _, _ = strings.Cut(read, ";")
	}
	used := "more memory than it could get"
	switch {
	case limit == "" && strings.Contains(c.Message, NoLimit):
		return "It has no memory limit: the node itself ran out of memory, and killed it. Set " +
			a.field(c, "resources.memory", "resources.requests.memory") +
			" to what it needs, so that it is placed on a node with room, or let it use less."
	case limit != "":
		used = "more memory than its limit of " + limit
	}
	return "It used " + used + ", and the node killed it for that. Raise " +
		a.field(c, "resources.memory", "resources.limits.memory") + "."
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
		return fmt.Sprintf("The %s has no key %s, which the volume in %s names: add it, or correct the key.", kind,
			m[2], a.spec())
	}
	if m := NoObject.FindStringSubmatch(c.Message); m != nil {
		if id := strings.TrimPrefix(c.Object, "pod/"); a.isWorkspace() && m[2] == kube.CertificateSecret(id) {
			return fmt.Sprintf("The certificate of the workspace has not been issued yet: `kubectl describe "+
				"certificate %s%s` says why.", id, a.option())
		}
		if m[1] == "secret" && slices.Contains(a.PullSecrets, m[2]) {
			return fmt.Sprintf("Pull secret %s does not exist: create it with %#q.", m[2], a.pullSecret(m[2]))
		}
		kind, create := "ConfigMap", "configmap"
		if m[1] == "secret" {
			kind, create = "Secret", "secret generic"
		}
		return fmt.Sprintf("%s %s does not exist: create it with `kubectl create %s %s%s --from-literal=KEY=VALUE`.",
			kind, m[2], create, m[2], a.option())
	}
	if m := noClass.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Storage class %s does not exist.", m[1])
	}
	return "Something that the pod needs does not exist: create what the message names in the namespace."
}

// class is where the storage class of a claim is named.
func class(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return `"storageClassName" of the storage's claimSpec in ` + a.spec()
	}
	return `"storageClassName" of a new claim (that of an existing one cannot be changed)`
}

// missingClass says which storage class does not exist, and where to name one that does.
func missingClass(c v1.Cause, a About) string {
	return missing(c, a) + " Name one that does (`kubectl get storageclass`) as " + class(c, a)
}

// probed is what a probe has to do with the end of a container.
func probed(c v1.Cause, a About) string {
	if !strings.Contains(c.Message, "probe failed") {
		return ended(c, a)
	}
	return "It is ended because of its probe, which may be given more time (initialDelaySeconds, timeoutSeconds, a " +
		"startup probe). " + a.asked() + " " + a.advice(ProbeFailed, c)
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

// asked says what the probe asks for.
func (a About) asked() string {
	if a.Probe == "" {
		return "The probe that checks it gets no good answer."
	}
	return "The probe asks for " + a.Probe + " and gets no good answer."
}

// silentStart says where to look.
func silentStart(_ v1.Cause, a About) string {
	if a.Probe == "" {
		return "It has no probe, so that it should be ready at once: the node may have stopped reporting (`kubectl " +
			"get nodes`)."
	}
	return "Its probe asks for " + a.Probe + "; no event says what it gets, as they are kept for an hour."
}

// elsewhere is what becomes of a pod whose node does not come back.
func elsewhere(c v1.Cause, a About) string {
	const back = "When it comes back, the pod goes on. "
	switch {
	case a.Deleting:
		_, name, _ := strings.Cut(c.Object, "/")
		return "When it comes back, it finishes deleting the pod. If it is gone for good, remove it (`kubectl delete " +
			"node " + name + "`), and the pod goes with it."
	case a.Controlled:
		return back + "Otherwise Kubernetes deletes the pod after about 5 minutes, and its controller replaces it " +
			"once it is gone: that of a StatefulSet when the node answers, or is deleted."
	case a.isWorkspace():
		const sure = "Otherwise, when you are sure that the node does not come back, delete its pod"
		if a.Pod == "" {
			return back + sure + ". " + a.back()
		}
		remove := fault.Command("kubectl", "delete", "pod", a.Pod, "--force") + a.option()
		return back + sure + ": `" + remove + "`. " + a.back()
	}
	return back + "Otherwise create the pod again, on another node."
}

// No blueprint has a priority, chooses nodes or limits how long a pod runs: of a workspace, the
// cluster has added that to its pod.

func morePriority(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return "If that happens again, ask your cluster administrator for a node more, or a higher priority for " +
			"workspaces."
	}
	return "Ask for a higher priorityClassName, or add a node."
}

func misfit(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return "The node's labels have changed, and do not fit what the pod asks for."
	}
	return "The node's labels no longer fit what " + a.spec() + " asks for."
}

func tooLong(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return a.back() + " It ran for longer than activeDeadlineSeconds permits, which the cluster has added to its " +
			"pod: ask your cluster administrator."
	}
	return "It ran for longer than activeDeadlineSeconds permits. Raise that in " + a.spec() + ". " + a.again()
}
