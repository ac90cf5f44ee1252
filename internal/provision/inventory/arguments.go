package inventory

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
)

// Understand says which workspaces an argument can mean as far as that is known
// without the cluster, the likeliest first, and what is wrong with it. The
// namespace is empty if the argument names none.
func Understand(arg string) (ids []string, namespace string, err error) {
	all, namespace, err := candidates(arg)
	if err != nil {
		return nil, "", err
	}
	for _, c := range all {
		ids = append(ids, c.id)
	}
	return ids, namespace, nil
}

// FindListed looks up a workspace that List has listed.
func (r Reader) FindListed(ctx context.Context, w v1.Workspace) (*Target, error) {
	arg := "id/" + w.ID
	if w.Workload != "" && w.UserString != "" {
		arg = w.UserString // which says what it is injected into
	}
	return r.In(w.Namespace).Find(ctx, arg)
}
