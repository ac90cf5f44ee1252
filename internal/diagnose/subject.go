package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/diagnose/dump"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/evidence"
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
			WithHint("name a workspace, or pod/NAME, deployment/NAME, statefulset/NAME, daemonset/NAME, " +
				"replicaset/NAME, job/NAME")
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

// Choose finds the subject in a dump: by its name, of which the beginning is
// enough, or as the only one that there is. A zero wanted means the latter.
func (d Dump) Choose(wanted watch.Subject) (watch.Subject, error) {
	var all []candidate
	for _, c := range d.candidates() {
		if wanted.Namespace == "" || c.Namespace == wanted.Namespace {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		if said := d.said(); len(said) > 0 {
			err := fault.New(fault.InvalidArgument, "the dump has events alone, which do not say how things stand now").
				WithHint("add the objects: %s", dump.Hint)
			err.Problems = slices.Concat(said, d.Skipped)
			return wanted, err
		}
		return wanted, d.lacks(fault.New(fault.InvalidArgument, "the dump has neither a pod nor a workload").
			WithHint("%s", dump.Hint))
	}
	found := fitting(all, wanted)
	switch len(found) {
	case 0:
		return wanted, d.lacks(fault.New(fault.InvalidArgument, "the dump has no %s", named(wanted)).
			WithHint("it has %s", names(all)))
	case 1:
		return found[0].Subject, nil
	}
	err := fault.New(fault.InvalidArgument, "%s is ambiguous: it matches %d: %s", named(wanted), len(found),
		names(found))
	if slices.ContainsFunc(found[1:], func(c candidate) bool { return c.String() == found[0].String() }) {
		return wanted, err.WithHint("choose the namespace with --namespace")
	}
	return wanted, err.WithHint("choose one with --subject, such as --subject %s", found[0])
}

// mostSaid is how many objects are named of which there are events alone.
const mostSaid = 10

// said is what the events of a dump say last of each pod or workload, what is wrong before what is not.
func (d Dump) said() (lines []string) {
	last := map[string]*corev1.Event{}
	for _, r := range d.Records {
		e, is := r.Object.(*corev1.Event)
		if !is || KindOf(e.InvolvedObject.Kind) == "" {
			continue
		}
		of := kube.Object(strings.ToLower(e.InvolvedObject.Kind), e.InvolvedObject.Name)
		if known := last[of]; known == nil || tells(e) > tells(known) ||
			tells(e) == tells(known) && !evidence.LastSeen(e).Before(evidence.LastSeen(known)) {
			last[of] = e
		}
	}
	for _, of := range slices.Sorted(maps.Keys(last)) {
		lines = append(lines, of+": "+last[of].Reason+": "+fault.Line(evidence.Text(last[of])))
	}
	return lines[:min(mostSaid, len(lines))]
}

// tells is how much an event says: a warning more than what went well, and a reason more than its echo.
func tells(e *corev1.Event) int {
	switch {
	case e.Type != corev1.EventTypeWarning:
		return 0
	case evidence.IsEcho(e):
		return 1
	}
	return 2
}

// lacks is an error about what a dump does not have: it may be in what was skipped.
func (d Dump) lacks(err *fault.Error) error {
	err.Problems = d.Skipped
	return err
}

func named(s watch.Subject) string {
	switch {
	case s.Name == "":
		return "the subject"
	case s.Kind == "":
		return "pod or workload " + s.Name
	}
	return kube.Object(strings.ToLower(s.Kind), s.Name)
}

// fitting narrows candidates down, the surest reading of what is wanted first:
// the very name before the beginning of one, a pod before a workload.
func fitting(all []candidate, wanted watch.Subject) []candidate {
	if wanted.Name == "" {
		return topmost(all)
	}
	exact := func(c candidate) bool { return c.Name == wanted.Name }
	begins := func(c candidate) bool { return strings.HasPrefix(c.Name, wanted.Name) }
	for _, matches := range []func(candidate) bool{exact, begins} {
		for _, pods := range []bool{true, false} {
			var found []candidate
			for _, c := range all {
				if matches(c) && pods == (c.Kind == watch.KindPod) && (wanted.Kind == "" || c.Kind == wanted.Kind) {
					found = append(found, c)
				}
			}
			if len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// topmost are the workspaces, or else what has no owner in the dump.
func topmost(all []candidate) (found []candidate) {
	present := map[types.UID]bool{}
	for _, c := range all {
		present[c.uid] = true
		if c.workspace {
			found = append(found, c)
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, c := range all {
		if !present[c.owner] {
			found = append(found, c)
		}
	}
	return found
}

// names lists candidates, but not hundreds.
func names(all []candidate) string {
	const most = 10
	var list []string
	for _, c := range all[:min(most, len(all))] {
		list = append(list, c.String()+" in "+c.Namespace)
	}
	if len(all) > most {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

// candidate is something in a dump that can be diagnosed.
type candidate struct {
	watch.Subject
	uid       types.UID
	owner     types.UID // empty for an object without a controller
	workspace bool
}

func (c candidate) String() string {
	return kube.Object(strings.ToLower(c.Kind), c.Name)
}

// candidates are the pods and workloads of a dump, in alphabetical order, one
// for each name.
func (d Dump) candidates() []candidate {
	known := map[watch.Subject]candidate{}
	for _, r := range d.Records {
		o, err := meta.Accessor(r.Object)
		if err != nil || watch.SubjectOf(o).Kind == "" {
			continue
		}
		c := candidate{Subject: watch.SubjectOf(o), uid: o.GetUID()}
		if owner := metav1.GetControllerOf(o); owner != nil {
			c.owner = owner.UID
		}
		c.workspace = c.Kind == watch.KindPod && o.GetLabels()[kube.LabelCanonicalID] != ""
		known[c.Subject] = c
	}
	return slices.SortedFunc(maps.Values(known), func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.String(), b.String()))
	})
}
