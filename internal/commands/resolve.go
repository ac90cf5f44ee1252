package commands

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/userstring"
)

type resolveOptions struct {
	output  outputFlag
	set     setFlags
	offline bool
}

func newResolve(a *app) *cobra.Command {
	o := &resolveOptions{}
	cmd := &cobra.Command{
		Use:   "resolve USERSTR",
		Short: "Show what a user string means",
		Long: `Show what a user string means: its form and fields, the canonical key and ID, who
the user is, and what the workspace would be made of, with the origin of each
field. Nothing is written.

With --offline it stops after reading the user string, and needs neither
cluster nor configuration.`,
		Example: `  berth resolve alice~dev
  berth resolve alice~dev --offline --output jsonpath='{.id}'`,
		Args:              exactlyOne("user string"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args[0]) },
	}
	o.output.register(cmd, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&o.offline, "offline", false, "only read the user string; ask nobody")
	addBlueprintFlags(cmd)
	o.set.register(cmd)
	return cmd
}

func (o *resolveOptions) run(ctx context.Context, a *app, cmd *cobra.Command, arg string) error {
	u, err := userstring.Parse(arg)
	if err != nil {
		return err
	}
	overrides, err := o.set.overrides()
	if err != nil {
		return err
	}
	r := resolution(u)
	if !o.offline {
		p, err := a.provisioner(cmd)
		if err != nil {
			return err
		}
		p.Overrides = overrides
		if err := complete(ctx, p, u, r); err != nil {
			return err
		}
	}
	return printer.PrintResolution(a.streams, o.output.format, r)
}

// resolution is what the user string alone says.
func resolution(u userstring.UserString) *v1.Resolution {
	r := &v1.Resolution{
		TypeMeta: v1.Kind(v1.KindResolution), Form: v1.Form(u.Form()), Key: u.Key(), ID: u.ID(), Canonical: u.String(),
		Fields: v1.Fields{
			Username: u.User, Blueprint: u.Blueprint, Ref: u.RefTyped,
			User: u.OSUser, Pod: u.Pod, Ns: u.Namespace,
		},
	}
	if u.RepoName != "" {
		r.Fields.Repo = u.RepoOwner + "/" + u.RepoName
	}
	if !u.Workload.IsZero() {
		r.Fields.Workload = u.Workload.String()
	}
	return r
}

// complete adds what the cluster and the blueprints say. They are asked side by
// side; what goes wrong is told in the order of the flow.
func complete(ctx context.Context, p *provision.Provisioner, u userstring.UserString, r *v1.Resolution) error {
	var user identity.User
	var composed provision.Composed
	var identityErr, blueprintErr error
	var group errgroup.Group
	group.Go(func() error {
		user, identityErr = p.Users.Resolve(ctx, u.User)
		return nil
	})
	r.Notice = notResolved(u)
	if r.Notice == "" {
		composed, blueprintErr = p.Compose(ctx, u)
	}
	_ = group.Wait() // each error is kept on its own
	if identityErr != nil {
		return identityErr
	}
	if blueprintErr != nil {
		return blueprintErr
	}
	r.Identity = identityDocument(user)
	if u.Form() == userstring.Named {
		return nil
	}
	r.Notice = composed.Notice
	b, err := composed.Complete(ctx, u, user)
	if err != nil {
		return err
	}
	if err := provision.Allowed(user, b); err != nil {
		return err
	}
	r.Blueprint, err = blueprintDocument(b)
	return err
}

// identityDocument is the document of a user.
func identityDocument(user identity.User) *v1.Identity {
	return &v1.Identity{
		Username: user.Username, Fullname: user.Fullname, Email: user.Email,
		Organization: user.Organization, Roles: user.Roles, UID: user.UID, GID: user.GID,
		Blueprints: user.Blueprints, Sudo: user.Sudo, Status: string(user.Status), Provider: user.Provider,
	}
}

// notResolved says why a form has no blueprint; nothing if it has one.
func notResolved(u userstring.UserString) string {
	if u.Form() != userstring.Named {
		return ""
	}
	return "no blueprint: " + u.Pod + " is a workspace that exists, or does not; `berth status " + u.String() + "` looks"
}

// blueprintDocument is the document of a resolved blueprint.
func blueprintDocument(b blueprint.Blueprint) (*v1.Blueprint, error) {
	document := &v1.Blueprint{
		TypeMeta: v1.Kind(v1.KindBlueprint), Name: b.Name, IsTemplate: b.IsTemplate,
		From: b.Origin, Lineage: b.Lineage, Origins: b.Origins,
	}
	text, err := json.Marshal(b)
	if err == nil {
		err = json.Unmarshal(text, &document.Spec)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "blueprint %s: %w", b.Name, err)
	}
	return document, nil
}
