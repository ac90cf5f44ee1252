package inventory

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Target is a workspace that exists, or a part of one.
type Target struct {
	ID, Namespace string
	// Pod is the one of a workload's pods that the argument names; empty for any.
	Pod   string
	Found Found
}

// Find looks an argument up as everything that it can mean; if there is nothing, by the ID of the other scheme, too.
func (r Reader) Find(ctx context.Context, arg Argument) (*Target, error) {
	r, arg = r.In(arg.Namespace), arg.In(r.Scheme)
	all := arg.candidates
	targets, err := r.lookAll(ctx, all)
	if err == nil && !slices.ContainsFunc(targets, Target.exists) {
		all = arg.all()
		others, othersErr := r.lookAll(ctx, arg.others)
		targets, err = append(targets, others...), othersErr
	}
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(targets, Target.exists)
	switch {
	case first < 0:
		id := arg.likeliest()
		err := fault.New(fault.NotFound, "workspace %s not found in namespace %s", id, r.Client.Namespace)
		if r.Client.LacksNamespace(ctx, r.Client.Namespace) {
			return nil, fault.New(fault.NotFound, "workspace %s not found in namespace %s, which does not exist",
				id, r.Client.Namespace).
				WithHint("choose another one with --namespace").WithReason(ReasonNoNamespace)
		}
		if meant := r.meant(ctx, arg.Text); meant != "" {
			return nil, err.WithReason(ReasonMeant).WithHint("did you mean %s? %s", fault.Word(meant), listsThem)
		}
		return nil, err.WithHint("%s", arg.otherwise(r.Client.Namespace))
	case slices.ContainsFunc(targets[first+1:], Target.exists):
		return nil, fault.New(fault.InvalidArgument, "%q is ambiguous: %s or %s", arg.Text, all[0].id, all[1].id).
			WithHint("use id/%s or id/%s", all[0].id, all[1].id)
	}
	return &targets[first], nil
}

// lookAll looks candidates up side by side.
func (r Reader) lookAll(ctx context.Context, all []candidate) ([]Target, error) {
	targets := make([]Target, len(all))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, c := range all {
		group.Go(func() (err error) {
			targets[i], err = r.look(groupCtx, c)
			return err
		})
	}
	return targets, group.Wait()
}

// Named is a user string in the scheme of the reader, or in the other one where that is the scheme by which its
// workspace exists. If there is none yet, its ID has to be a valid name.
func (r Reader) Named(ctx context.Context, u userstring.UserString) (userstring.UserString, error) {
	u = u.In(r.Scheme)
	other, differs := u.Other()
	if r.Scheme == userstring.Own || !differs {
		return u, nil
	}
	exists, err := r.existsAs(ctx, other)
	if exists || err != nil {
		return other, err
	}
	invalid := u.CheckID()
	if invalid != nil && isID(u.ID()) { // to a pod, which is called so all the same
		if exists, err = r.existsAs(ctx, u); exists || err != nil {
			return u, err
		}
	}
	return u, invalid
}

// existsAs says whether there is the workspace of a user string under the ID that it has. To a caller who may not see
// that there is none: what they may not do is reported with whatever else is missing.
func (r Reader) existsAs(ctx context.Context, u userstring.UserString) (bool, error) {
	t, err := r.In(u.Namespace).look(ctx, candidate{id: u.ID(), asked: u, workload: u.Workload})
	if fault.CodeOf(err) == fault.PermissionDenied {
		err = nil
	}
	return err == nil && t.exists(), err
}

// ReasonMeant is the reason of the error about a workspace that does not exist, where another
// one has a name like it.
const ReasonMeant = "ANOTHER_NAME"

// ReasonNoNamespace is the reason of the error about a workspace whose namespace does not exist.
const ReasonNoNamespace = "NO_NAMESPACE"

// meant is the name of the workspace that is meant by what was typed; empty if it is not known.
func (r Reader) meant(ctx context.Context, typed string) string {
	if r.Meant == nil {
		return ""
	}
	return r.Meant(ctx, r.Client.Namespace, typed)
}

// Elsewhere is how the hint about a workspace that was not found names another namespace.
const Elsewhere = "--namespace chooses another one"

const listsThem = "`berth status` lists the workspaces of a namespace; " + Elsewhere

// otherwise is what to do where there is no such workspace. Whether there is a blueprint that
// the user string names is not known here.
func (a Argument) otherwise(namespace string) string {
	u := a.asked()
	if u.User == "" || u.Pod != "" || userstring.LooksLikeID(a.Text) {
		return listsThem
	}
	creates := "` creates it"
	if u.Form() == userstring.Explicit {
		creates += " if there is a blueprint " + u.Blueprint + ", which `berth blueprint list` says"
	}
	return "`" + fault.Command("berth", "provision", a.Text, "--namespace", namespace) + creates + "; " + listsThem
}

func (t Target) exists() bool { return t.Found.Exists() }

// Exists says whether there is a workspace, or a part of one. Storage that was kept is
// none.
func (f Found) Exists() bool {
	return f.Pod != nil || f.installed() || f.Workload.Injected() || len(f.Objects)+len(f.Leaving) > 0
}

func (r Reader) look(ctx context.Context, c candidate) (Target, error) {
	f, err := r.lookupAs(ctx, c)
	if c.owner != "" && fault.CodeOf(err) == fault.Conflict {
		return r.lookByPod(ctx, c, err)
	}
	if c.literal && fault.CodeOf(err) == fault.Conflict {
		f, err = Found{}, nil
	}
	if err != nil {
		return Target{}, err
	}
	if err := c.checkOwner(f.labelled()); err != nil {
		return Target{}, err
	}
	if err := f.BelongsTo(c.asked); err != nil {
		return Target{}, err
	}
	if err := r.former(ctx, c, f.labelled()); err != nil {
		return Target{}, err
	}
	return Target{ID: c.id, Namespace: r.Client.Namespace, Found: f}, nil
}

// Lookup is LookupStatus, and says why the pod waits. Where that may not be read, what
// was found is returned with the error.
func (r Reader) Lookup(ctx context.Context, id string) (Found, error) {
	f, err := r.LookupStatus(ctx, id)
	if err != nil || f.Pod == nil || !r.NeedsEvents(f.Reading) {
		return f, err
	}
	return r.explain(ctx, f)
}

// explain reads what explains the pod: the status of its containers lags behind
// its events.
func (r Reader) explain(ctx context.Context, f Found) (Found, error) {
	around, err := r.around(ctx, f.Pod)
	return r.read(f, Objects{Pods: []*corev1.Pod{f.Pod}, Around: around}), err
}

// LookupStatus asks for the pod and the record side by side. The reading is by the
// pod's status alone, which is enough to remove it.
func (r Reader) LookupStatus(ctx context.Context, id string) (f Found, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f.Pod, f.Version, err = r.findPod(groupCtx, id)
		return err
	})
	group.Go(func() (err error) {
		f.Record, err = r.Records().Latest(groupCtx, id)
		if fault.ReasonOf(err) == release.ReasonUnreadable {
			f.Unreadable, err = err, nil // the workspace can be seen and removed all the same
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return Found{}, err
	}
	return r.byStatus(f), nil
}

// Read is the reading of a pod by its status alone.
func (r Reader) Read(pod *corev1.Pod) v1.Snapshot { return r.byStatus(Found{Pod: pod}).Reading }

func (r Reader) byStatus(f Found) Found {
	if f.Pod == nil {
		return f
	}
	return r.read(f, Objects{Pods: []*corev1.Pod{f.Pod}})
}

// findPod lists instead of getting: the list's version is where the watch goes
// on from.
func (r Reader) findPod(ctx context.Context, id string) (*corev1.Pod, string, error) {
	list, err := r.Client.CoreV1().Pods(r.Client.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, id).String(),
	})
	if err != nil {
		return nil, "", kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: r.Client.Namespace})
	}
	if len(list.Items) == 0 {
		return nil, list.ResourceVersion, nil
	}
	pod := &list.Items[0]
	if pod.Labels[kube.LabelCanonicalID] != kube.LabelValue(id) {
		return nil, "", fault.New(fault.Conflict, "pod %s in namespace %s exists and is not managed by berth", id,
			r.Client.Namespace).
			WithHint("rename or delete it, then try again")
	}
	return pod, list.ResourceVersion, nil
}

// around are the claims that a pod mounts, and the events about it and them.
func (r Reader) around(ctx context.Context, pod *corev1.Pod) ([]runtime.Object, error) {
	core, ns := r.Client.CoreV1(), pod.Namespace
	names := evidence.ClaimNames(pod)
	claims, events := make([]runtime.Object, len(names)), make([][]runtime.Object, len(names)+1)
	group, ctx := errgroup.WithContext(ctx)
	for i, name := range names {
		group.Go(func() error {
			claim, err := core.PersistentVolumeClaims(ns).Get(ctx, name, metav1.GetOptions{})
			err = kube.Fault(err, kube.Call{Verb: "get", Resource: "persistentvolumeclaims", Namespace: ns, Name: name})
			if fault.CodeOf(err) == fault.NotFound {
				return nil
			}
			claims[i] = claim
			return err
		})
	}
	for i, name := range append(names, pod.Name) {
		group.Go(func() error {
			list, err := core.Events(ns).List(ctx, metav1.ListOptions{
				FieldSelector: fields.OneTermEqualSelector("involvedObject.name", name).String(),
			})
			if err != nil {
				return kube.Fault(err, kube.Call{Verb: "list", Resource: "events", Namespace: ns})
			}
			for e := range list.Items {
				events[i] = append(events[i], &list.Items[e])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	claims = slices.DeleteFunc(claims, func(claim runtime.Object) bool { return claim == nil })
	return append(claims, slices.Concat(events...)...), nil
}
