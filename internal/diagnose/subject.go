package diagnose

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
)

// ParseSubject reads KIND/NAME, or the name alone.
func ParseSubject(text string) (watch.Subject, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok {
		return watch.Subject{Name: text}, nil
	}
	s := watch.Subject{Kind: KindOf(kind), Name: name}
	if s.Kind == "" || name == "" || strings.Contains(name, "/") {
		return s, fault.New(fault.InvalidArgument, "cannot diagnose %q", text).
			WithHint("name a workspace, or pod/NAME, deployment/NAME, statefulset/NAME, daemonset/NAME, replicaset/NAME, job/NAME")
	}
	return s, nil
}

// Kinds are what can be diagnosed, in the order of their names.
func Kinds() []string { return slices.Sorted(maps.Keys(shortNames())) }

// shortNames are those that kubectl knows.
func shortNames() map[string]string {
	return map[string]string{
		watch.KindPod: "po", watch.KindDeployment: "deploy", watch.KindReplicaSet: "rs",
		watch.KindStatefulSet: "sts", watch.KindDaemonSet: "ds", watch.KindJob: "job",
	}
}

// KindOf understands kinds as kubectl does: in either number, of any case, short. It is
// empty for what is none of Kinds.
func KindOf(word string) string {
	for kind, short := range shortNames() {
		word, _, _ := strings.Cut(strings.ToLower(word), ".") // deployments.apps
		if long := strings.ToLower(kind); word == long || word == long+"s" || word == short {
			return kind
		}
	}
	return ""
}
