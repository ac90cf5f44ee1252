package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

type provisionOptions struct {
	output      outputFlag
	set         setFlags
	timeout     time.Duration
	timing      bool
	ifNotExists bool
	wait        bool
	onFailure   onFailureFlag
	inject      injectFlags
	batch       batchFlags
	deploy      deployFlags
}

func newProvision(a *app) *cobra.Command {
	o := &provisionOptions{}
	cmd := &cobra.Command{
		Use:   "provision [USERSTR]",
		Short: "Bring up a workspace and follow it until it can be entered",
		Long: `Bring up the workspace that a user string means and follow it until it can be
entered, or until it is certain that it cannot. Without a user string it is the
workspace of whoever calls.

It is safe to run again at any time: what is on its way is followed, what was
left half-done is completed, what has failed is made anew.

With workload=KIND/NAME and ns=NAMESPACE the workspace goes into the pods of a
Deployment, StatefulSet or DaemonSet, beside its containers, and every replica is
followed. Deleting it leaves the pod template as it was.
` + aboutOnFailure + aboutBatch,
		Example: `  berth provision alice
  berth provision alice~dev --blueprints ./blueprints
  berth provision alice~dev --timeout 2m --output json
  berth provision alice~dev+workload=deployment/web+ns=shop
  berth provision alice~dev --output jsonl | jq -c .stage.stage
  berth provision -f team.txt --parallel 8 --if-not-exists`,
		Args:              atMostOne("user string"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	flags := cmd.Flags()
	o.output.register(cmd, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	flags.DurationVar(&o.timeout, "timeout", 0, "give up after this time, such as 90s or 5m (0: never)")
	flags.BoolVar(&o.timing, "timing", false, "print the time of each step and the number of API requests")
	flags.BoolVar(&o.ifNotExists, "if-not-exists", false, "succeed if the workspace is running already")
	flags.BoolVar(&o.wait, "wait", false, "wait for who deletes the workspace at this moment, instead of failing")
	o.onFailure.register(cmd)
	o.inject.register(cmd)
	addPolicyFlags(cmd)
	o.batch.register(cmd)
	o.deploy.register(cmd)
	addBlueprintFlags(cmd)
	o.set.register(cmd)
	return cmd
}

func (o *provisionOptions) run(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	if o.timeout < 0 {
		return usage(cmd, fault.New(fault.InvalidArgument, "--timeout %s is negative", o.timeout))
	}
	if o.batch.given(cmd) {
		return o.runBatch(ctx, a, cmd, args)
	}
	// What can be known to be wrong is said before the cluster is asked.
	u, err := parseUser(args)
	if err != nil {
		return err
	}
	p, err := o.provisioner(a, cmd)
	if err != nil {
		return err
	}
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	if u.User == "" {
		if u.User, err = p.Users.Caller(ctx); err != nil {
			return because(ctx, err)
		}
	}
	if o.deploy.dryRun.on() {
		return o.preview(ctx, a, p, u)
	}
	title := wording.Title{UserString: u.String(), ID: u.ID(), Namespace: p.For(u).Client.Namespace, Verb: "provision", Flags: givenFlags(cmd)}
	view := a.startProgress(o.output.format, title)
	records, err := a.keepRecords(ctx, cmd, p.Client)
	if err != nil {
		return err
	}
	defer records.close()
	p, sinks := records.of(p, view)
	stream := event.NewStream(u.ID(), time.Now, sinks...)
	result, err := o.provision(ctx, p, u, stream)
	if result.Error != nil {
		result.Error.Hint = title.Located(result.Error.Hint)
	}
	stream.Finish(result)
	defer records.warn(a.streams)
	if reportErr := printer.Report(a.streams, o.output.format, result, view.Shown()); reportErr != nil {
		return reportErr
	}
	if o.timing && result.Workspace != nil {
		printer.PrintTiming(a.streams, result.Workspace.Timing)
	}
	if o.timing && result.Error != nil && result.Error.Workspace != nil {
		printer.PrintTiming(a.streams, result.Error.Workspace.Timing)
	}
	if err != nil {
		return statusError(fault.CodeOf(err).Exit())
	}
	return nil
}

// provisioner is one that works as the flags say.
func (o *provisionOptions) provisioner(a *app, cmd *cobra.Command) (*provision.Provisioner, error) {
	overrides, err := o.set.overrides()
	if err != nil {
		return nil, err
	}
	p, err := a.provisioner(cmd)
	if err != nil {
		return nil, err
	}
	p.WaitForLock, p.Overrides = o.wait, overrides
	p.OnFailure = o.onFailure.value
	o.deploy.configure(p)
	o.inject.apply(p)
	return p, nil
}

// provision makes a result of what happens.
func (o *provisionOptions) provision(ctx context.Context, p *provision.Provisioner, u userstring.UserString, stream *event.Stream) (v1.Result, error) {
	outcome, err := p.Provision(ctx, u, stream)
	if o.ifNotExists && fault.CodeOf(err) == fault.AlreadyExists {
		w, inspectErr := p.For(u).Inspect(ctx, "id/"+u.ID())
		if inspectErr == nil {
			return v1.Result{Workspace: w}, nil
		}
		err = inspectErr
	}
	if err != nil {
		document := printer.ErrorDocument(err)
		document.Workspace, document.Logs = outcome.Workspace, outcome.Logs
		document.Left, document.Problems = outcome.Left, append(document.Problems, outcome.Problems...)
		return v1.Result{Error: &document}, err
	}
	return v1.Result{Workspace: outcome.Workspace}, nil
}

func (o *provisionOptions) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return withTimeout(ctx, o.timeout)
}

// parseUser reads the user string, if there is one, and refuses what cannot be
// provisioned.
func parseUser(args []string) (userstring.UserString, error) {
	if len(args) == 0 {
		return userstring.UserString{}, nil
	}
	u, err := userstring.Parse(args[0])
	if err != nil {
		return u, err
	}
	return u, provision.Supported(u)
}
