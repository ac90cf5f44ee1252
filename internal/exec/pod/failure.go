package pod

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// failure says what kept a command from running, or from running to its end.
func failure(err error, client *kube.Client, r Request) error {
	switch {
	case err == nil:
		return nil
	case r.Server != "" && (strings.Contains(err.Error(), "error dialing backend") || exec.IsLost(err)):
		return fault.New(fault.Unavailable, "the connection to %s was lost: %w", r.Server, err).
			WithHint("see its pod: kubectl describe pod %s --namespace %s", r.Pod, client.Namespace)
	case strings.Contains(err.Error(), "error dialing backend"):
		return fault.New(fault.Unavailable, "the node of workspace %s cannot be reached: %w", r.Pod, err).
			WithHint("see its state: %s", kube.Command("status", cmp.Or(r.ID, r.Pod), client.Namespace))
	case exec.IsLost(err):
		return fault.New(fault.Unavailable,
			"the connection to the API server was lost, and with it the command in workspace %s: %w", r.Pod, err).
			WithHint("it may still be running there: `%s` shows its processes",
				kube.Command("exec", cmp.Or(r.ID, r.Pod), client.Namespace, "--", "ps"))
	}
	if isGone(err) {
		return fault.New(fault.Failed, "%s does not run any more, or not yet", r.title()).WithReason(ReasonNotRunning).
			WithHint("see its state: %s", kube.Command("status", cmp.Or(r.ID, r.Pod), client.Namespace))
	}
	if notStarted := notStarted(err, r.Command[0], r.title()); notStarted != nil {
		return notStarted
	}
	failed := kube.Fault(err, kube.Call{Verb: "create", Resource: "pods/exec", Namespace: client.Namespace, Name: r.Pod})
	if fault.CodeOf(failed) == fault.Internal {
		return fault.New(fault.Internal, "cannot run the command in %s: %w", r.title(), err)
	}
	return failed
}

// isGone is true if the container runtime says that the container's process is not there: it has
// ended, or is being restarted, since the pod was read.
func isGone(err error) bool {
	said := strings.ToLower(err.Error())
	return slices.ContainsFunc([]string{
		"no running task found", "container not running", "container is not running", "not in running state",
		"in a stopped state", "in a stopped container", "container not found (", "cannot exec in a deleted state",
	}, func(text string) bool { return strings.Contains(said, text) })
}
