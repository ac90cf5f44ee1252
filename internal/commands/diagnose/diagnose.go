// Package diagnose is the command `berth diagnose`.
package diagnose

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// Options are what the command line says.
type Options struct {
	IO        terminal.Streams
	Config    func() (config.Config, error)
	Inventory func() (inventory.Reader, error)
	States    func(context.Context) (lifecycle.Place, func(), error)

	Arg       string // a workspace, or KIND/NAME
	FromFile  bool   // a dump in File, instead of Arg
	File      string
	Subject   string    // in the dump
	Namespace string    // of the subject in the dump
	Now       time.Time // at which the dump is read; zero for its end
	ExitCode  bool
	Output    printer.Format
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	var now string
	cmd := &cobra.Command{
		Use:        "diagnose USERSTR|ID|KIND/NAME",
		SuggestFor: []string{"describe", "debug", "why"},
		Short:      "Explain why a workspace, pod or workload does not start",
		Long: `Explain the state of a workspace, of any pod or of any workload: its stage and
since when, what keeps it from running, the last lines of the log of the failing
container, and what to do about it. KIND is pod, deployment, statefulset,
daemonset, replicaset or job.

With --filename, read a dump instead of a cluster: what kubectl get prints with -o
yaml or -o json, with --watch or without, in a file, or in all files of a directory
or an archive (gzip, tar, zip), such as kubectl cluster-info dump writes. A dump is
read as of the newest time in it. What changed over time is known of JSON lines of
watch events with their times in seconds since 1970:

  {"at": 1795218636.798, "type": "ADDED", "object": {...}}

The exit status is 0 whenever a diagnosis was made; with --exit-code it is 3 if the
subject has failed.`,
		Example: `  berth diagnose alice~dev
  berth diagnose deployment/web --namespace shop
  kubectl get pods,events,pvc,deployments,replicasets -o yaml | berth diagnose -f - --subject deployment/web
  berth diagnose -f must-gather.tar.gz --namespace shop --subject web
  berth diagnose -f recording.jsonl --output json | jq .cause`,
		Args:              cmdutil.MaxOneArg("subject"),
		ValidArgsFunction: completeSubject(f),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Arg, o.IO.Flags = cmdutil.Optional(args), cmdutil.ClusterFlags(cmd)
			o.FromFile, o.Namespace = cmd.Flags().Changed("filename"), *f.Kube.Namespace
			if err := o.setNow(now); err != nil {
				return err
			}
			return o.validate()
		}),
	}
	deps := f.For(cmd)
	o.Config, o.Inventory, o.States = deps.Config, deps.Inventory, deps.States
	flags := cmd.Flags()
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	flags.StringVarP(&o.File, "filename", "f", "",
		"read a dump from this file, directory or archive (- for standard input) instead of a cluster")
	flags.StringVar(&o.Subject, "subject", "", "what to diagnose in the dump: NAME or KIND/NAME, or the "+
		"beginning of one")
	flags.StringVar(&now, "now", "", "the time at which the dump is read, in RFC 3339 (default: the newest time in it)")
	flags.BoolVar(&o.ExitCode, "exit-code", false, "exit with status 3 if the subject has failed")
	cmdutil.AddPolicyFlags(cmd)
	cmdutil.NoFlagValues(cmd, "subject", "now")
	return cmd
}

// setNow reads --now.
func (o *Options) setNow(text string) (err error) {
	if text == "" {
		return nil
	}
	if o.Now, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return fault.New(fault.InvalidArgument, "invalid --now %q: use RFC 3339, for example 2026-11-20T23:50:25Z",
			text)
	}
	return nil
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	switch {
	case o.FromFile && o.File == "":
		return fault.New(fault.InvalidArgument, "--filename must not be empty")
	case o.FromFile && o.Arg != "":
		return fault.New(fault.InvalidArgument, "with --filename, name the subject with --subject %s", o.Arg)
	case !o.FromFile && (o.Subject != "" || !o.Now.IsZero()):
		return fault.New(fault.InvalidArgument, "--subject and --now require --filename")
	case !o.FromFile && o.Arg == "":
		return fault.New(fault.InvalidArgument, "requires a workspace, pod or workload, or --filename")
	}
	return nil
}

// Run prints the diagnosis.
func Run(ctx context.Context, o *Options) error {
	d, err := o.diagnose(ctx)
	if err != nil {
		return err
	}
	d.Explained = explained(d.Cause)
	if err := printer.Print(o.IO, o.Output, d); err != nil {
		return err
	}
	if o.ExitCode && d.Verdict == v1.VerdictFailed {
		return cmdutil.ExitError(fault.Failed.Exit())
	}
	return nil
}

// explained is true for a cause of which `berth explain` says more than its hint.
func explained(c *v1.Cause) bool {
	return c != nil && slices.ContainsFunc(catalog.Explain(c.Code), catalog.Explanation.GoesFurther)
}

func (o *Options) diagnose(ctx context.Context) (result.Diagnosis, error) {
	if o.FromFile {
		return cmdutil.Await(ctx, o.dump)
	}
	d, err := o.live(ctx)
	return result.Diagnosis{Diagnosis: d}, err
}

func (o *Options) live(ctx context.Context) (v1.Diagnosis, error) {
	if isWorkspace(o.Arg) {
		return o.workspace(ctx)
	}
	subject, err := diagnose.ParseSubject(o.Arg)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	reader, err := cmdutil.Await(ctx, o.Inventory)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	subject.Namespace = reader.Client.Namespace
	return diagnose.Live(ctx, reader.Client, reader.Client.Dynamic, subject, reader.Policy, o.IO.Now())
}

// isWorkspace tells user strings and IDs from KIND/NAME. A user string can have a
// slash in it, but not before its first separator.
func isWorkspace(arg string) bool {
	kind, _, slash := strings.Cut(arg, "/")
	return !slash || kind == "id" || strings.ContainsAny(kind, "@~+=")
}

func (o *Options) workspace(ctx context.Context) (v1.Diagnosis, error) {
	arg, err := inventory.ParseArgument(o.Arg)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	reader, err := cmdutil.Await(ctx, o.Inventory)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	target, err := reader.Find(ctx, arg)
	if fault.CodeOf(err) == fault.NotFound {
		return o.known(ctx, reader.In(arg.Namespace).Client.Namespace, arg, err)
	}
	if err != nil {
		return v1.Diagnosis{}, err
	}
	d, err := diagnose.Live(ctx, reader.Client, reader.Client.Dynamic, target.Subject(), reader.Policy, o.IO.Now())
	if fault.CodeOf(err) == fault.NotFound { // its record is there, or it would not have been found
		return o.podless(ctx, target, err)
	}
	return d, err
}
