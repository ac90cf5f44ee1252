package cmdutil

import (
	"context"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// ParseUser parses a user string that is to be provisioned.
func ParseUser(text string) (userstring.UserString, error) {
	u, err := userstring.Parse(text)
	if err == nil {
		err = provision.Supported(u)
	}
	return u, err
}

// ParseNewUser parses the name of a workspace that may have to be made: it has to be a
// user string, as an ID does not say what to make.
func ParseNewUser(text string) (userstring.UserString, error) {
	if strings.HasPrefix(text, "id/") || userstring.LooksLikeID(text) {
		return userstring.UserString{}, fault.New(fault.InvalidArgument, "%s is an ID, which does not say what to provision", text).
			WithHint("name the workspace by its user string, such as alice~dev")
	}
	return ParseUser(text)
}

// ProvisionResult is the result of a provisioning.
func ProvisionResult(outcome provision.Outcome, err error) v1.Result {
	if err == nil {
		return v1.Result{Workspace: outcome.Workspace}
	}
	document := result.NewError(err)
	document.Workspace, document.Logs = outcome.Workspace, outcome.Logs
	document.Left, document.Problems = outcome.Left, append(document.Problems, outcome.Problems...)
	return v1.Result{Error: document}
}

// Provisioning brings up a workspace for a command that goes on with it.
type Provisioning struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*Recorders, error)
	Flags       []string
}

// Run brings the workspace up, or follows the run that does. One that runs already is no error.
func (o Provisioning) Run(ctx context.Context, u userstring.UserString) error {
	p, err := Await(ctx, o.Provisioner)
	if err != nil {
		return err
	}
	p.WaitForLock = true
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	defer recorders.Warn(o.IO)
	p.States = recorders.States(p.Client)
	title := wording.Title{UserString: u.String(), ID: u.ID(), Namespace: p.For(u).Client.Namespace, Verb: "provision", Flags: o.Flags, Enters: true}
	recorder, sinks := recorders.New()
	p.Jobs = recorder
	_, err = single{o.IO, printer.Format{}, p.Client.Namespace, title}.show(sinks, func(stream *event.Stream) v1.Result {
		outcome, err := p.Provision(ctx, u, stream)
		if fault.CodeOf(err) == fault.AlreadyExists && outcome.Workspace != nil {
			err = nil
		}
		return ProvisionResult(outcome, err)
	})
	return err
}
