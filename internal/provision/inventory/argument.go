package inventory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// Argument is a workspace as the user named it: by its user string or its
// canonical ID. It is parsed, and not looked up.
type Argument struct {
	// Text is what was typed.
	Text string
	// Namespace is the one that it names; empty if it names none.
	Namespace  string
	candidates []candidate
	// others are what the argument means in the other scheme of IDs, where these differ: it is looked up so if nothing
	// is found.
	others []candidate
}

// ParseArgument reads what somebody typed to name a workspace.
func ParseArgument(text string) (Argument, error) { return argument(text, userstring.Parse) }

// ParseRecorded reads what names a workspace where berth has written it.
func ParseRecorded(text string) (Argument, error) { return argument(text, userstring.ParseCanonical) }

func argument(text string, parse func(string) (userstring.UserString, error)) (Argument, error) {
	all, namespace, err := candidates(text, parse)
	a := Argument{Text: text, Namespace: namespace, candidates: all}
	if err != nil || a.asked().User == "" {
		return a, err
	}
	if u, differs := a.asked().Other(); differs && isID(u.ID()) {
		a.others = []candidate{{id: u.ID(), asked: u, workload: u.Workload}}
	}
	return a, nil
}

// In is the same argument with what it means in a scheme of IDs in front.
func (a Argument) In(s userstring.Scheme) Argument {
	if len(a.others) > 0 && a.asked().Scheme != s {
		own := a.candidates
		a.candidates = slices.Concat(a.others, own[1:])
		a.others = own[:1]
	}
	return a
}

// IDs are the canonical IDs that the argument can mean, the likeliest first.
func (a Argument) IDs() []string {
	ids := make([]string, len(a.candidates))
	for i, c := range a.candidates {
		ids[i] = c.id
	}
	return ids
}

// AllIDs are these, and the one that it means in the other scheme.
func (a Argument) AllIDs() []string {
	return Argument{candidates: a.all()}.IDs()
}

func (a Argument) all() []candidate { return slices.Concat(a.candidates, a.others) }

// likeliest is the ID that is meant where there is nothing that says so: that of the user string, or what looks like
// one.
func (a Argument) likeliest() string {
	if userstring.LooksLikeID(a.Text) {
		return a.Text
	}
	return a.candidates[0].id
}

// Means says whether the argument names the workspace of that ID, whose user string is
// empty if it is not known.
func (a Argument) Means(id, userString string) bool {
	return slices.ContainsFunc(a.all(), func(c candidate) bool {
		return c.id == id && c.mayOwn(userString) && collision(c.asked, userString) == nil
	})
}

// asked is the user string that the argument is; zero for an ID.
func (a Argument) asked() userstring.UserString { return a.candidates[0].asked }

// ListedArgument names a workspace of a list.
func ListedArgument(w v1.Workspace) (Argument, error) {
	text := "id/" + w.ID
	if w.Workload != "" && w.UserString != "" {
		text = w.UserString // which says what it is injected into
	}
	a, err := ParseRecorded(text)
	a.Namespace = w.Namespace
	if slices.ContainsFunc(a.others, func(c candidate) bool { return c.id == w.ID }) {
		a = a.In(a.others[0].asked.Scheme)
	}
	return a, err
}

// candidate is one thing that an argument can mean.
type candidate struct {
	id string
	// owner is who the pod must belong to, where a user string names the pod.
	owner string
	// asked is the user string that has the ID; zero where the ID itself is given.
	asked userstring.UserString
	// workload is what it is injected into, where a user string says so.
	workload userstring.Workload
	// literal is true if the argument is taken as an ID: a pod of that name that
	// is not a workspace's is not meant.
	literal bool
}

// mayOwn is false for a workspace of somebody else than the owner who was named.
func (c candidate) mayOwn(userString string) bool {
	u, err := userstring.ParseCanonical(userString)
	return c.owner == "" || err != nil || u.User == c.owner
}

// candidates are what a text can mean: the user string that it is, and the
// canonical ID that it is. id/NAME means the ID and nothing else. The namespace
// is that of a user string that names one.
func candidates(arg string, parse func(string) (userstring.UserString, error)) (all []candidate, namespace string,
	err error,
) {
	if name, ok := strings.CutPrefix(arg, "id/"); ok {
		if !isID(name) {
			return nil, "", fault.New(fault.InvalidArgument, "invalid canonical ID %q", name).
				WithHint("`berth status` lists the IDs of workspaces")
		}
		return []candidate{{id: name, literal: true}}, "", nil
	}
	u, err := parse(arg)
	switch {
	case err != nil && isID(arg):
		return []candidate{{id: arg, literal: true}}, "", nil
	case err != nil:
		return nil, "", err
	case u.Form() == userstring.Named:
		return []candidate{{id: u.Pod, owner: u.User}}, u.Namespace, nil
	}
	if !u.Workload.IsZero() {
		return []candidate{{id: u.ID(), asked: u, workload: u.Workload}}, u.Namespace, nil
	}
	all = []candidate{{id: u.ID(), asked: u}}
	if isID(arg) && arg != u.ID() {
		all = append(all, candidate{id: arg, literal: true})
	}
	return all, "", nil
}

func isID(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 }

// lookByPod looks up the workspace that is injected into the workload of a pod that was named,
// which is no workspace by itself.
func (r Reader) lookByPod(ctx context.Context, c candidate, otherwise error) (Target, error) {
	ns := r.Client.Namespace
	pod, err := r.Client.CoreV1().Pods(ns).Get(ctx, c.id, metav1.GetOptions{})
	if err != nil {
		return Target{}, kube.Fault(err, kube.Call{Verb: "get", Resource: "pods", Namespace: ns, Name: c.id})
	}
	if !IsInjected(pod) || !kube.IsOfWorkspace(&pod.ObjectMeta) {
		return Target{}, otherwise
	}
	if err := c.checkOwner(pod); err != nil {
		return Target{}, err
	}
	t, err := r.look(ctx, candidate{id: pod.Labels[kube.LabelCanonicalID], workload: WorkloadOf(pod)})
	t.Pod = pod.Name
	return t, err
}

// checkOwner returns an error if a workspace that exists is named by its pod, and not by its
// owner. The owner of one that does not name it is not guessed.
func (c candidate) checkOwner(of metav1.Object) error {
	if c.owner == "" || of == nil || IsOwnedBy(of, c.owner) {
		return nil
	}
	err := fault.New(fault.PermissionDenied, "workspace %s does not belong to %s", c.id, userstring.Owner(c.owner))
	owner, parseErr := userstring.Parse(OwnerOf(of))
	if parseErr != nil || !IsOwnedBy(of, owner.User) {
		return err.WithHint("whose it is cannot be read; name it by its ID: %s", fault.Word("id/"+c.id))
	}
	owner.Pod = c.id
	return err.WithHint("name its owner: %s", fault.Word(owner.String()))
}

// former returns an error for a workspace that was made when several callers had one username,
// and that somebody names by their former one. Those that are made now say who the API server
// took their user for.
func (r Reader) former(ctx context.Context, c candidate, of metav1.Object) error {
	username := cmp.Or(c.asked.User, c.owner)
	if r.Former == nil || username == "" || of == nil || of.GetAnnotations()[kube.AnnotationUser] != "" ||
		!isOfCluster(of.GetAnnotations()[kube.AnnotationIdentity]) {
		return nil
	}
	return r.Former(ctx, username)
}

// isOfCluster is true for the annotation of a workspace whose user the API server has named. An organization follows
// the provider in those of earlier workspaces.
func isOfCluster(identity string) bool {
	provider, _, _ := strings.Cut(identity, "/")
	return provider == "kubernetes"
}

// labelled is what has the labels of a workspace: its pod, also one of which only Helm's
// record is left. It is nil if there is none.
func (f Found) labelled() metav1.Object {
	switch {
	case f.Pod != nil:
		return f.Pod
	case f.Record != nil:
		return wanted(f.Record)
	case f.Exists():
		return &metav1.ObjectMeta{}
	}
	return nil
}
