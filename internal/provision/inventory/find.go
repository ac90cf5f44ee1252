package inventory

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// candidate is one thing that an argument can mean.
type candidate struct {
	id string
	// owner is who the pod must belong to, where a user string names the pod.
	owner string
	// workload is what it is injected into, where a user string says so.
	workload userstring.Workload
	// literal is true if the argument is taken as an ID: a pod of that name that
	// is no workspace is not meant.
	literal bool
}

// candidates are what a text can mean: the user string that it is, and the
// canonical ID that it is. id/NAME means the ID and nothing else. The namespace
// is that of a user string that names one.
func candidates(arg string) (all []candidate, namespace string, err error) {
	if name, ok := strings.CutPrefix(arg, "id/"); ok {
		if !isID(name) {
			return nil, "", fault.New(fault.InvalidArgument, "%q is no canonical ID", name).WithHint("`berth status` lists those that there are")
		}
		return []candidate{{id: name, literal: true}}, "", nil
	}
	u, err := userstring.Parse(arg)
	switch {
	case err != nil && isID(arg):
		return []candidate{{id: arg, literal: true}}, "", nil
	case err != nil:
		return nil, "", err
	case u.Form() == userstring.Named:
		return []candidate{{id: u.Pod, owner: u.User}}, u.Namespace, nil
	}
	if !u.Workload.IsZero() {
		return []candidate{{id: u.ID(), workload: u.Workload}}, u.Namespace, nil
	}
	all = []candidate{{id: u.ID()}}
	if isID(arg) && arg != u.ID() {
		all = append(all, candidate{id: arg, literal: true})
	}
	return all, "", nil
}

func isID(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 }

// Target is a workspace that exists, or a part of one.
type Target struct {
	ID, Namespace string
	Found         Found
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
		return nil, notFound(all[0].id, r.Client.Namespace)
	case slices.ContainsFunc(targets[first+1:], Target.exists):
		return nil, fault.New(fault.InvalidArgument, "%q is two workspaces: %s and %s", arg.Text, all[0].id, all[1].id).
			WithHint("say id/%s or id/%s", all[0].id, all[1].id)
	}
	return &targets[first], nil
}

// see looks a workspace up for who only wants to see or enter it: its pod is
// enough, for Helm's record is a Secret, which not everybody may read.
func (r Reader) see(ctx context.Context, id string) (f Found, err error) {
	f, err = r.Lookup(ctx, id)
	switch {
	case fault.CodeOf(err) != fault.PermissionDenied:
		return f, err
	case f.Pod != nil:
		return f, nil // what could not be read is only why it waits
	}
	refusal := err
	if f.Pod, f.Version, err = r.findPod(ctx, id); err != nil {
		return Found{}, err
	}
	if f.Pod == nil {
		return Found{}, fault.New(fault.NotFound, "there is no pod of a workspace %s in namespace %s, and whether it is installed cannot be seen: %w", id, r.Client.Namespace, refusal).
			WithHint("`berth help rbac` has the Role that shows it")
	}
	f.Reading = r.Read(f.Pod)
	return f, nil
}

func (t Target) exists() bool {
	f := t.Found
	return f.Pod != nil || f.Record != nil || f.Workload.Injected() || f.Remains > 0
}

func (r Reader) look(ctx context.Context, c candidate) (Target, error) {
	f, err := r.lookupAs(ctx, c)
	if c.literal && fault.CodeOf(err) == fault.Conflict {
		f, err = Found{}, nil
	}
	if err != nil {
		return Target{}, err
	}
	if f.Pod != nil && c.owner != "" && f.Pod.Labels[kube.LabelUsername] != kube.LabelValue(c.owner) {
		return Target{}, fault.New(fault.PermissionDenied, "workspace %s does not belong to %s", c.id, c.owner).
			WithHint("name its owner: %s~pod=%s", f.Pod.Labels[kube.LabelUsername], c.id)
	}
	return Target{ID: c.id, Namespace: r.Client.Namespace, Found: f}, nil
}
