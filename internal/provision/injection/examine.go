package injection

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Severity says whether a finding prevents the injection.
type Severity int

// The severities.
const (
	Notice     Severity = iota // worth knowing
	Warning                    // it may not last, or not come about by itself
	Refusal                    // it makes no sense, unless it is forced
	Impossible                 // the API server would refuse it, or nothing is there
)

// Finding is something about a workload that its owner should know before it is
// patched.
type Finding struct {
	Severity Severity
	Reason   string // a word for scripts
	Message  string
	Hint     string
}

// Examine looks at a workload before it is patched: whether the patch would be
// rolled out, whether it would last, whether it can be at all.
func Examine(workload map[string]any, p Parts) []Finding {
	x := &examination{
		workload: workload, name: text(workload, "metadata", "name"),
		kind: strings.ToLower(text(workload, "kind")),
	}
	x.namespace = text(workload, "metadata", "namespace")
	x.possible()
	x.rollout(p.ID)
	x.gitOps()
	x.operator()
	x.claims(p)
	return x.found
}

type examination struct {
	workload              map[string]any
	kind, name, namespace string
	found                 []Finding
}

func (x *examination) say(s Severity, reason, hint, format string, args ...any) {
	x.found = append(x.found, Finding{Severity: s, Reason: reason, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (x *examination) String() string { return x.kind + "/" + x.name }

func (x *examination) possible() {
	if text(x.workload, "metadata", "deletionTimestamp") != "" {
		x.say(Impossible, "Deleting", "wait until it is gone, or choose another", "%s is being deleted", x)
	}
	if host, _ := lookup(x.workload, "spec", "template", "spec", "hostPID").(bool); host {
		x.say(Impossible, "HostPID", "choose another workload",
			"%s shares the processes of its node (hostPID), so its containers cannot share theirs with the workspace",
			x)
	}
	if x.replicas() == 0 {
		x.say(Refusal, "NoReplicas", x.kubectl("scale", "--replicas 1"), "%s has no replicas: there is no pod to enter",
			x)
	}
}

// replicas are the pods that the workload wants.
func (x *examination) replicas() int64 {
	path, absent := []string{"spec", "replicas"}, int64(1)
	if x.kind == "daemonset" {
		path, absent = []string{"status", "desiredNumberScheduled"}, 0
	}
	if n, ok := number(lookup(x.workload, path...)); ok {
		return n
	}
	return absent
}

func (x *examination) kubectl(verb, flags string) string {
	return fmt.Sprintf("kubectl %s %s --namespace %s %s", verb, x, x.namespace, flags)
}

// rollout: whether the controller makes new pods of a new template.
func (x *examination) rollout(id string) {
	if paused, _ := lookup(x.workload, "spec", "paused").(bool); paused {
		x.say(Refusal, "Paused", strings.TrimSpace(x.kubectl("rollout resume", "")),
			"the rollout of %s is paused: no pod would get the workspace", x)
	}
	if text(x.workload, "spec", "updateStrategy", "type") == "OnDelete" {
		x.say(Warning, "OnDelete", "",
			"%s replaces its pods only when they are deleted (updateStrategy OnDelete): until then they do not have "+
				"workspace %s, and this command waits; `kubectl delete pod NAME --namespace %s`",
			x, id, x.namespace)
	}
	partition, ok := number(lookup(x.workload, "spec", "updateStrategy", "rollingUpdate", "partition"))
	switch {
	case !ok || partition <= 0:
	case partition >= x.replicas():
		x.say(Refusal, "Partition", x.kubectl("patch",
			`--patch '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}'`),
			"%s updates only pods from number %d on (partition), of which it has none", x, partition)
	default:
		x.say(Warning, "Partition", "",
			"%s updates only pods from number %d on (partition): the others do not get the workspace", x, partition)
	}
}

// operator: a controller that owns the workload writes it again as it wants it.
func (x *examination) operator() {
	object := unstructured.Unstructured{Object: x.workload}
	if owner := metav1.GetControllerOf(&object); owner != nil {
		x.say(Warning, "OperatorOwned", "",
			"%s belongs to %s %s: its operator will probably revert the injection", x, owner.Kind, owner.Name)
	}
}

// claims: a volume that one pod can mount keeps all others from starting.
func (x *examination) claims(p Parts) {
	if x.replicas() <= 1 {
		return
	}
	for _, object := range p.Objects {
		if object.GetKind() == "PersistentVolumeClaim" && forOne(object) {
			x.say(Refusal, "OnePodVolume", "leave the storage out of the blueprint, or give it the access "+
				"mode ReadWriteMany",
				"%s has %d replicas, and the volume claim %s can be mounted by one", x, x.replicas(), object.GetName())
		}
	}
}

// forOne is true for a claim without any access mode that lets pods of several
// nodes mount it.
func forOne(claim *unstructured.Unstructured) bool {
	for _, mode := range list(claim.Object, "spec", "accessModes") {
		if mode == "ReadWriteMany" || mode == "ReadOnlyMany" {
			return false
		}
	}
	return true
}

// number reads a number, as JSON or YAML has it.
func number(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	case int:
		return int64(n), true
	}
	return 0, false
}

// fit returns an error if the pod template already has a container, a volume or a
// port of the workspace. All containers of a pod share its ports.
func (p Parts) fit(workload map[string]any) error {
	spec, _ := lookup(workload, "spec", "template", "spec").(map[string]any)
	var problems []string
	clash := func(what string, injected []any, present ...any) {
		have := map[string]bool{}
		for _, item := range present {
			have[nameOf(item)] = true
		}
		for _, item := range injected {
			if have[nameOf(item)] {
				problems = append(problems, fmt.Sprintf("it already has a %s %s", what, nameOf(item)))
			}
		}
	}
	containers := append(append([]any{}, list(spec, "containers")...), list(spec, "initContainers")...)
	clash("container", append(append([]any{}, p.Containers...), p.InitContainers...), containers...)
	clash("volume", p.Volumes, list(spec, "volumes")...)
	taken := ports(containers)
	for port, by := range p.ports() {
		if owner, ok := taken[port]; ok {
			problems = append(problems, fmt.Sprintf("its container %s listens on port %s, as %s does", owner, port, by))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Conflict, "workspace %s cannot be injected into %s", p.ID,
		text(workload, "metadata", "name"))
	err.Problems = problems
	return err
}

// ports are those that the workspace's containers listen on: an agent declares none.
func (p Parts) ports() map[string]string {
	all := ports(p.Containers)
	for _, item := range p.Containers {
		if c, _ := item.(map[string]any); slices.Contains(list(c, "command"), any(kube.AgentProgram)) {
			all[fmt.Sprintf("%d/TCP", kube.AgentPort)] = nameOf(c)
		}
	}
	return all
}

// ports are the declared ports and the containers that declare them.
func ports(containers []any) map[string]string {
	all := map[string]string{}
	for _, item := range containers {
		c, _ := item.(map[string]any)
		for _, port := range list(c, "ports") {
			declared, _ := port.(map[string]any)
			protocol := text(declared, "protocol")
			if protocol == "" {
				protocol = "TCP"
			}
			all[fmt.Sprintf("%v/%s", declared["containerPort"], protocol)] = nameOf(c)
		}
	}
	return all
}

// gitOps: a tool that makes the cluster what a repository says reverts what
// others patch.
func (x *examination) gitOps() {
	labels := (&unstructured.Unstructured{Object: x.workload}).GetLabels()
	annotations := annotationsOf(x.workload)
	switch {
	case anyPrefix("argocd.argoproj.io/", labels, annotations):
		x.reverted("Argo CD", annotations["argocd.argoproj.io/tracking-id"])
	case labels["kustomize.toolkit.fluxcd.io/name"] != "":
		x.reverted("Flux", "Kustomization "+labels["kustomize.toolkit.fluxcd.io/name"])
	case labels["helm.toolkit.fluxcd.io/name"] != "":
		x.reverted("Flux", "HelmRelease "+labels["helm.toolkit.fluxcd.io/name"])
	case anyPrefix("fleet.cattle.io/", labels, annotations), anyPrefix("objectset.rio.cattle.io/", labels, annotations):
		x.reverted("Fleet", "")
	case anyPrefix("config.k8s.io/owning-inventory", labels, annotations):
		x.reverted("a GitOps tool", annotations["config.k8s.io/owning-inventory"])
	case tool(labels["app.kubernetes.io/managed-by"]) != "":
		x.reverted(tool(labels["app.kubernetes.io/managed-by"]), "")
	case annotations["meta.helm.sh/release-name"] != "":
		x.say(Notice, "HelmOwned", "", "%s belongs to the Helm release %s: its next upgrade may revert the injection",
			x, annotations["meta.helm.sh/release-name"])
	}
}

func (x *examination) reverted(by, what string) {
	if what != "" {
		by += " (" + what + ")"
	}
	x.say(Warning, "GitOpsOwned", "",
		"%s is managed by %s, which will revert the injection unless its synchronisation is suspended", x, by)
}

// tool is the GitOps tool that a managed-by label names; empty for all others.
func tool(managedBy string) string {
	switch name := strings.ToLower(managedBy); {
	case strings.Contains(name, "argo"):
		return "Argo CD"
	case strings.Contains(name, "flux"), name == "kustomize-controller", name == "helm-controller":
		return "Flux"
	}
	return ""
}

func anyPrefix(prefix string, maps ...map[string]string) bool {
	for _, m := range maps {
		for key := range m {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}
