package provision

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/volume"
)

// Composed is what a workspace is made of, as far as that is known without
// knowing its user.
type Composed struct {
	catalog.Draft
	// Notice says what the user may not expect; empty for nothing.
	Notice string
	// Variables are those of the environment that expressions may read.
	Variables map[string]string
	// RepoAddress is where the repository is cloned from; empty without one.
	RepoAddress string
}

// Compose finds the blueprint of a user string and puts it together. A user's own
// is asked for only if the user string can mean one, unlike the implicit form.
func (p *Provisioner) Compose(ctx context.Context, u userstring.UserString) (Composed, error) {
	var set *catalog.Set
	var custom *blueprint.Source
	var customErr error
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		set, err = p.Blueprints(groupCtx)
		return err
	})
	if u.BlueprintName() != "" {
		group.Go(func() error {
			custom, customErr = p.Repositories.Custom(groupCtx, u)
			return nil // it may turn out not to be needed
		})
	}
	if err := group.Wait(); err != nil {
		return Composed{}, err
	}
	order, notice, err := p.choose(u, set, custom, customErr)
	if err != nil {
		return Composed{}, err
	}
	draft, err := set.Compose(order)
	c := Composed{Draft: draft, Notice: notice, Variables: p.Variables}
	if r := (manifest.Access{Remote: p.Remote}).Clone(u); r != nil {
		c.RepoAddress = r.URL
	}
	return c, err
}

// choose decides between the platform's blueprint and the user's own.
func (p *Provisioner) choose(u userstring.UserString, set *catalog.Set, custom *blueprint.Source,
	customErr error,
) (catalog.Order, string, error) {
	order := catalog.Order{Name: u.BlueprintName(), Registry: p.DefaultRegistry, Overrides: p.Overrides}
	if u.Form() == userstring.Explicit && !set.Has(order.Name) && set.Has(u.BlueprintTyped) {
		order.Name = u.BlueprintTyped
	}
	switch {
	case u.Form() == userstring.Named:
		return order, "", fault.New(fault.Internal, "%s names a workspace, not a blueprint", u)
	case u.Form() == userstring.Implicit:
		order.Name = p.DefaultBlueprint
		return order, "", nil
	case u.Form() == userstring.Explicit && set.Has(order.Name):
		if custom == nil {
			return order, "", nil
		}
		return order, "the platform's blueprint " + order.Name + " is used, not your own of the same name (" +
			custom.Name +
			")", nil
	case customErr != nil:
		return order, "", customErr
	case custom != nil:
		order.Custom, order.As = custom, order.Name
		return order, "", nil
	case u.Form() == userstring.Repo:
		order.As, order.Name = order.Name, p.DefaultBlueprint
		return order, u.Repository() + " has no " + blueprint.CustomFile + at(u) + ": blueprint " + p.DefaultBlueprint +
			" is used", nil
	}
	return order, "", nil // set.Compose reports that it does not exist
}

func at(u userstring.UserString) string {
	if u.RefTyped == "" {
		return ""
	}
	return " at " + u.RefTyped
}

// Complete evaluates the expressions of a blueprint, for which its user must be
// known, and checks it as a whole.
func (c Composed) Complete(ctx context.Context, u userstring.UserString, user identity.User) (blueprint.Blueprint,
	error,
) {
	return c.Resolve(ctx, expression.Facts{
		User: expression.User{
			Username: user.Username, UID: user.UID, GID: user.GID, Email: user.Email,
			Fullname: user.Fullname, Organization: user.Organization, Roles: user.Roles, Blueprints: user.Blueprints,
			Sudo: user.Sudo, Provider: user.Provider,
		},
		WorkspaceName: u.ID(),
		Metadata: expression.Metadata{
			RepoOwner: u.RepoOwner, RepoName: u.RepoName, Ref: u.RefTyped, RepoRef: u.RefTyped,
			RepoAddress: c.RepoAddress,
		},
		Variables: c.Variables,
	})
}

// Allowed returns an error if the user may not use the blueprint; of a user's own,
// the platform blueprint that it extends has to be allowed.
func Allowed(user identity.User, b blueprint.Blueprint) error { return user.MayUse(b.Platform) }

// driver is what the cluster says of the CSI driver of scratch storages.
type driver struct {
	asked, missing bool
	err            error
}

// driverFor asks for the driver if a blueprint has scratch storages as it is composed:
// early, so that the answer comes with the other reads.
func (p *Provisioner) driverFor(ctx context.Context, c Composed) driver {
	if len(c.Scratch()) == 0 {
		return driver{}
	}
	return p.askForDriver(ctx)
}

func (p *Provisioner) askForDriver(ctx context.Context) driver {
	_, err := p.Client.StorageV1().CSIDrivers().Get(ctx, volume.DriverName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return driver{asked: true, missing: true}
	case apierrors.IsForbidden(err):
		return driver{asked: true} // without the driver the pod does not start, and says why
	}
	return driver{asked: true, err: kube.Fault(err,
		kube.Call{Verb: "get", Resource: "csidrivers.storage.k8s.io", Name: volume.DriverName})}
}

// checkDriver returns an error if a blueprint has scratch storages and the cluster has
// no driver for them. Whether it has some may be known only now, with expressions.
func (p *Provisioner) checkDriver(ctx context.Context, b blueprint.Blueprint, found driver) error {
	names := b.Scratch()
	if len(names) == 0 {
		return nil
	}
	if !found.asked {
		found = p.askForDriver(ctx)
	}
	if !found.missing {
		return found.err
	}
	what := "storage " + names[0] + " is"
	if len(names) > 1 {
		what = "storages " + strings.Join(names, ", ") + " are"
	}
	return fault.New(fault.InvalidArgument, "%s of type %s, and the cluster has no CSI driver %s", what,
		blueprint.StorageScratch, volume.DriverName).
		WithHint("ask your cluster administrator to install it (`berth serve manifests volumes`), or change the type "+
			"of the storage in blueprint %s", b.Name)
}
