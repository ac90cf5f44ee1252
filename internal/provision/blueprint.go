package provision

import (
	"cmp"
	"context"
	"maps"
	"slices"
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

// drivers are what the cluster says of the CSI drivers of scratch storages, by their names.
type drivers map[string]driver

type driver struct {
	missing bool
	err     error
}

// askForDrivers asks for the drivers of scratch storages, which are given by name with the driver that they name. What
// is known is not asked for again.
func (p *Provisioner) askForDrivers(ctx context.Context, scratch map[string]string, known drivers) drivers {
	all := drivers{}
	maps.Copy(all, known)
	for _, name := range scratch {
		name = driverOf(name)
		if _, asked := all[name]; !asked {
			all[name] = p.askForDriver(ctx, name)
		}
	}
	return all
}

func (p *Provisioner) askForDriver(ctx context.Context, name string) driver {
	_, err := p.Client.StorageV1().CSIDrivers().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return driver{missing: true}
	case apierrors.IsForbidden(err):
		return driver{} // without the driver the pod does not start, and says why
	}
	return driver{err: kube.Fault(err, kube.Call{Verb: "get", Resource: "csidrivers.storage.k8s.io", Name: name})}
}

// driverOf is the driver of a scratch storage that names this one, or none.
func driverOf(named string) string { return cmp.Or(named, volume.DriverName) }

// checkDrivers returns an error if a workspace has scratch storages and the cluster has no driver for them; blueprint
// is that of the workspace. Which it has may be known only now, with expressions: what is not known yet is asked for.
// A provisioning, a start, a restart and a rollback look for the drivers before they change anything.
func (p *Provisioner) checkDrivers(ctx context.Context, scratch map[string]string, known drivers,
	blueprint string,
) error {
	found := p.askForDrivers(ctx, scratch, known)
	lacking := map[string][]string{}
	for _, storage := range slices.Sorted(maps.Keys(scratch)) {
		name := driverOf(scratch[storage])
		if found[name].missing {
			lacking[name] = append(lacking[name], storage)
		} else if err := found[name].err; err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		return withoutDriver(name, lacking[name], blueprint)
	}
	return nil
}

// withoutDriver is the error of scratch storages whose driver the cluster does not have.
func withoutDriver(driver string, storages []string, of string) error {
	what := "storage " + storages[0] + " is"
	if len(storages) > 1 {
		what = "storages " + strings.Join(storages, ", ") + " are"
	}
	where := "its blueprint"
	if of != "" {
		where = "blueprint " + of
	}
	how := "`berth serve manifests volumes`"
	if driver != volume.DriverName {
		how = "`berth serve manifests volumes --driver-name " + driver + "`"
	}
	return fault.New(fault.InvalidArgument, "%s of type %s, and the cluster has no CSI driver %s", what,
		blueprint.StorageScratch, driver).
		WithHint("ask your cluster administrator to install it (%s), or change the type of the storage in %s",
			how, where)
}

// checkRecordedDrivers is checkDrivers of a workspace that is made of what is recorded.
func (s session) checkRecordedDrivers(ctx context.Context, dec decision) error {
	return s.checkDrivers(ctx, manifest.ScratchOf(dec.deployment.Chart.Values), nil, dec.deployment.Spec.Blueprint.Name)
}
