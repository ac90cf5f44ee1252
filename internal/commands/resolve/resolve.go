// Package resolve is the command `berth resolve`.
package resolve

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/userstring"
)

// Options are what the command line says.
type Options struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)

	UserString string
	Set        cmdutil.SetFlags
	Offline    bool
	Output     printer.Format
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:   "resolve USERSTR",
		Short: "Show what a user string means",
		Long: `Show what a user string means: its form and fields, the canonical key and ID, who
the user is, and what the workspace would be made of, with the origin of each
field. Nothing is changed.

With --offline, only parse the user string, without cluster or configuration.`,
		Example: `  berth resolve alice~dev
  berth resolve alice~dev --offline --output jsonpath='{.id}'`,
		Args:              cmdutil.OneArg("user string"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.UserString = args[0]
			return runF(cmd.Context(), o)
		},
	}
	o.Provisioner = f.For(cmd).Provisioner
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&o.Offline, "offline", false, "only parse the user string")
	cmdutil.AddBlueprintFlags(cmd)
	o.Set.Add(cmd)
	return cmd
}

// Run prints what the user string means.
func Run(ctx context.Context, o *Options) error {
	u, err := userstring.Parse(o.UserString)
	if err != nil {
		return err
	}
	overrides, err := o.Set.Overrides()
	if err != nil {
		return err
	}
	r := resolution(u)
	if !o.Offline {
		p, err := cmdutil.Await(ctx, o.Provisioner)
		if err != nil {
			return err
		}
		p.Overrides = overrides
		u = u.In(p.Scheme)
		r = resolution(u)
		if err := complete(ctx, p, u, r); err != nil {
			return err
		}
	}
	return printer.Print(o.IO, o.Output, result.Resolution{Resolution: *r})
}

// resolution is what the user string alone says.
func resolution(u userstring.UserString) *v1.Resolution {
	r := &v1.Resolution{
		Form: v1.Form(u.Form()), Key: u.Key(), ID: u.ID(), Canonical: u.String(),
		Fields: v1.Fields{
			Username: u.User, Blueprint: u.Blueprint, Repo: u.Repository(), Ref: u.RefTyped,
			User: u.OSUser, Pod: u.Pod, Ns: u.Namespace, Workload: u.Workload.String(),
		},
	}
	return r
}

// complete adds what the cluster and the blueprints say. They are asked side by
// side; errors are reported in the order of the flow.
func complete(ctx context.Context, p *provision.Provisioner, u userstring.UserString, r *v1.Resolution) error {
	var user identity.User
	var composed provision.Composed
	var identityErr, blueprintErr error
	var group errgroup.Group
	group.Go(func() error {
		user, identityErr = p.Users.Resolve(ctx, u.User)
		return nil
	})
	named := u.Form() == userstring.Named
	if !named {
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
	if named {
		r.Notice = "no blueprint: " + u.Pod + " is the name of an existing workspace; see `" +
			fault.Command("berth", "status", u.String(), "--namespace", cmp.Or(u.Namespace, p.Client.Namespace)) + "`"
		return nil
	}
	b, err := composed.Complete(ctx, u, user)
	if err == nil {
		err = provision.Allowed(user, b)
	}
	if err != nil {
		return err
	}
	r.Notice = composed.Notice
	r.Blueprint, err = cmdutil.BlueprintDocument(b)
	return err
}

func identityDocument(user identity.User) *v1.Identity {
	return &v1.Identity{
		Username: user.Username, Fullname: user.Fullname, Email: user.Email,
		Organization: user.Organization, Roles: user.Roles, UID: user.UID, GID: user.GID,
		Blueprints: user.Blueprints, Sudo: user.Sudo, Status: string(user.Status), Provider: user.Provider,
	}
}
