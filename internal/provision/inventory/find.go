package inventory

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// Target is a workspace that exists, or a part of one.
type Target struct {
	ID, Namespace string
	// Pod is the one of a workload's pods that the argument names; empty for any.
	Pod   string
	Found Found
}

// Find looks an argument up as everything that it can mean.
func (r Reader) Find(ctx context.Context, arg Argument) (*Target, error) {
	all := arg.candidates
	r = r.In(arg.Namespace)
	targets := make([]Target, len(all))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, c := range all {
		group.Go(func() (err error) {
			targets[i], err = r.look(groupCtx, c)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	first := slices.IndexFunc(targets, Target.exists)
	switch {
	case first < 0:
		err := fault.New(fault.NotFound, "workspace %s not found in namespace %s", all[0].id, r.Client.Namespace)
		if r.Client.LacksNamespace(ctx, r.Client.Namespace) {
			return nil, fault.New(fault.NotFound, "workspace %s not found in namespace %s, which does not exist", all[0].id,
				r.Client.Namespace).
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

const listsThem = "`berth status` lists the workspaces of a namespace; --namespace chooses another one"

// otherwise is what to do where there is no such workspace. Whether there is a blueprint that
// the user string names is not known here.
func (a Argument) otherwise(namespace string) string {
	u := a.asked()
	if u.User == "" || u.Pod != "" {
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
