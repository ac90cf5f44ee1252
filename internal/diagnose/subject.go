package diagnose

import (
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
	s := watch.Subject{Kind: kindOf(kind), Name: name}
	if s.Kind == "" || name == "" || strings.Contains(name, "/") {
		return s, fault.New(fault.InvalidArgument, "cannot diagnose %q", text).
			WithHint("name a workspace, or pod/NAME, deployment/NAME, statefulset/NAME, daemonset/NAME, replicaset/NAME, job/NAME")
	}
	return s, nil
}

// kindOf understands kinds as kubectl does: in either number, of any case, short.
func kindOf(word string) string {
	for kind, short := range map[string]string{
		watch.KindPod: "po", watch.KindDeployment: "deploy", watch.KindReplicaSet: "rs",
		watch.KindStatefulSet: "sts", watch.KindDaemonSet: "ds", watch.KindJob: "job",
	} {
		word, _, _ := strings.Cut(strings.ToLower(word), ".") // deployments.apps
		if long := strings.ToLower(kind); word == long || word == long+"s" || word == short {
			return kind
		}
	}
	return ""
}
