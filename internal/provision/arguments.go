package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
)

// Understand says which workspace an argument means as far as that is known
// without the cluster, and what is wrong with it. The namespace is empty if the
// argument names none.
func Understand(arg string) (id, namespace string, err error) {
	all, namespace, err := candidates(arg)
	if err != nil {
		return "", "", err
	}
	return all[0].id, namespace, nil
}

// FindListed looks up a workspace that List has listed.
func (p *Provisioner) FindListed(ctx context.Context, w v1.Workspace) (*Target, error) {
	arg := "id/" + w.ID
	if w.Workload != "" && w.UserString != "" {
		arg = w.UserString // which says what it is injected into
	}
	return p.in(w.Namespace).Find(ctx, arg)
}
