package injection

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
			"%s shares the processes of its node (hostPID), so its containers cannot share theirs with the workspace", x)
	}
	if x.replicas() == 0 {
		x.say(Refusal, "NoReplicas", x.kubectl("scale", "--replicas 1"), "%s has no replicas: there is no pod to enter", x)
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
			"%s replaces its pods only when they are deleted (updateStrategy OnDelete): until then they do not have workspace %s, and this command waits; `kubectl delete pod NAME --namespace %s`",
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
			x.say(Refusal, "OnePodVolume", "leave the storage out of the blueprint, or give it the access mode ReadWriteMany",
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
