package instance

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// As is the reconciler that does what bundles choose as a ServiceAccount; r itself for nil.
func (r Reconciler) As(account *v1alpha1.ServiceAccount) (Reconciler, error) {
	if account == nil {
		return r, nil
	}
	acting, err := r.Own.ActingAs(types.NamespacedName{Namespace: account.Namespace, Name: account.Name})
	if err != nil {
		return r, err
	}
	r.Installs, r.account = acting, account
	return r, nil
}

// identify has the pass do what the bundle chooses as the ServiceAccount that its instance
// names. Of an instance that somebody else has written, its author must have been asked for
// the permission; the caller of an installation is asked with each request.
func (p *pass) identify(ctx context.Context) error {
	account := p.in.Spec.ServiceAccount
	if account == nil {
		return nil
	}
	if !p.requested {
		if err := p.Guard.Check(ctx); err != nil {
			return err
		}
	}
	acting, err := p.As(account)
	if err == nil {
		p.Reconciler = acting
	}
	return err
}

// denied says of a permission that is missing whose it is, and how it is given.
func (r Reconciler) denied(err error) error {
	if r.account == nil || fault.CodeOf(err) != fault.PermissionDenied {
		return err
	}
	f := *fault.From(err)
	if strings.Contains(f.Message, " cannot impersonate ") {
		return f.WithHint("let the server act as it, by a Role with the verb impersonate: print it with `berth serve manifests bundles --service-account %s`", r.account)
	}
	f.Message = "the ServiceAccount " + r.account.String() + " lacks a permission: " + f.Message
	return f.WithHint("what a bundle contains is read, written and watched as that ServiceAccount: bind it to a role that allows it")
}
