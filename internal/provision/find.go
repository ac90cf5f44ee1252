package provision

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// Candidates are the canonical IDs that an argument can mean: that of the user
// string that it is, and itself. id/NAME means NAME and nothing else.
func Candidates(arg string) ([]string, error) {
	if name, ok := strings.CutPrefix(arg, "id/"); ok {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil, fault.New(fault.InvalidArgument, "%q is no canonical ID", name)
		}
		return []string{name}, nil
	}
	u, err := userstring.Parse(arg)
	legalID := len(validation.IsDNS1123Subdomain(arg)) == 0
	switch {
	case err != nil && legalID:
		return []string{arg}, nil
	case err != nil:
		return nil, err
	case legalID && u.ID() != arg:
		return []string{u.ID(), arg}, nil
	default:
		return []string{u.ID()}, nil
	}
}

// find looks an argument up as everything that it can mean.
func (p *Provisioner) find(ctx context.Context, arg string) (string, found, error) {
	ids, err := Candidates(arg)
	if err != nil {
		return "", found{}, err
	}
	all := make([]found, len(ids))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, id := range ids {
		group.Go(func() (err error) {
			all[i], err = p.lookup(groupCtx, id)
			if fault.CodeOf(err) == fault.Conflict && len(ids) > 1 && id == arg {
				return nil // a pod of that name which is no workspace is not meant
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return "", found{}, err
	}
	exists := func(f found) bool { return f.pod != nil || f.record != nil }
	first := slices.IndexFunc(all, exists)
	switch {
	case first < 0:
		return "", found{}, notFound(ids[0], p.Client.Namespace)
	case slices.ContainsFunc(all[first+1:], exists):
		return "", found{}, fault.New(fault.InvalidArgument, "%q is two workspaces: %s", arg, strings.Join(ids, " and ")).
			WithHint("say id/%s or id/%s", ids[0], ids[1])
	}
	return ids[first], all[first], nil
}
