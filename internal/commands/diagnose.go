package commands

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
)

type diagnoseOptions struct {
	output   outputFlag
	file     string
	subject  string
	now      string
	exitCode bool
}

func newDiagnose(a *app) *cobra.Command {
	o := &diagnoseOptions{}
	cmd := &cobra.Command{
		Use:   "diagnose USERSTR|ID|KIND/NAME",
		Short: "Explain why a workspace, pod or workload does not come up",
		Long: `Explain how a workspace, any pod or any workload stands: its stage and since
when, what keeps it from running, what the failing container said last, and what
to do about it. KIND is pod, deployment, statefulset, daemonset, replicaset or
job.

With --filename it reads a dump instead of a cluster: what kubectl get -o json
prints, or JSON lines of watch events, as

  {"at": 1795218636.798, "type": "ADDED", "object": {...}}

The exit status is 0 whenever a diagnosis was made; with --exit-code it is 3 if
that says that the subject failed.`,
		Example: `  berth diagnose alice~dev
  berth diagnose deployment/web --namespace shop
  kubectl get pods,events,pvc,deployments,replicasets -o json | berth diagnose -f - --subject deployment/web
  berth diagnose -f recording.jsonl --output json | jq .cause`,
		Args:              atMostOne("subject"),
		ValidArgsFunction: a.completeWorkspaces,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	flags := cmd.Flags()
	o.output.register(cmd, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	flags.StringVarP(&o.file, "filename", "f", "", "read a dump from this file, - for standard input, instead of a cluster")
	flags.StringVar(&o.subject, "subject", "", "what to diagnose in the dump: NAME or KIND/NAME, the beginning is enough")
	flags.StringVar(&o.now, "now", "", "the time that the dump is read at, in RFC 3339 (a recording's end, or else now)")
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit with status 3 if the subject failed")
	addPolicyFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("subject", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("now", cobra.NoFileCompletions)
	return cmd
}

func (o *diagnoseOptions) run(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	now, err := o.check(cmd, args)
	if err != nil {
		return err
	}
	var d v1.Diagnosis
	if o.file != "" {
		d, err = o.ofDump(a, cmd, now)
	} else {
		d, err = a.diagnoseLive(ctx, cmd, args[0])
	}
	if err != nil {
		return err
	}
	streams := a.streams
	streams.Flags = givenFlags(cmd)
	if err := printer.Print(streams, o.output.format, &d); err != nil {
		return err
	}
	if o.exitCode && d.Verdict == v1.VerdictFailed {
		return statusError(fault.Failed.Exit())
	}
	return nil
}

// check reads what can be known to be wrong before anything is read or asked.
func (o *diagnoseOptions) check(cmd *cobra.Command, args []string) (now time.Time, err error) {
	dump := cmd.Flags().Changed("filename")
	switch {
	case dump && o.file == "":
		return now, usage(cmd, fault.New(fault.InvalidArgument, "--filename is empty"))
	case dump && len(args) > 0:
		return now, usage(cmd, fault.New(fault.InvalidArgument, "with --filename, %q has to be given as --subject", args[0]))
	case !dump && (o.subject != "" || o.now != ""):
		return now, usage(cmd, fault.New(fault.InvalidArgument, "--subject and --now are for a dump, which --filename names"))
	case !dump && len(args) == 0:
		return now, usage(cmd, fault.New(fault.InvalidArgument, "one workspace, pod or workload is needed, or --filename"))
	case o.now == "":
		return now, nil
	}
	now, err = time.Parse(time.RFC3339Nano, o.now)
	if err != nil {
		return now, usage(cmd, fault.New(fault.InvalidArgument, "--now %q is no time in RFC 3339, such as 2026-11-20T23:50:25Z", o.now))
	}
	return now, nil
}

// diagnoseLive asks the cluster.
func (a *app) diagnoseLive(ctx context.Context, cmd *cobra.Command, arg string) (v1.Diagnosis, error) {
	if isWorkspace(arg) {
		return a.diagnoseWorkspace(ctx, cmd, arg)
	}
	subject, err := diagnose.ParseSubject(arg)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	client, err := a.client()
	if err != nil {
		return v1.Diagnosis{}, err
	}
	subject.Namespace = client.Namespace
	return diagnose.Live(ctx, client, subject, c.Policy, a.streams.Now())
}

func (a *app) diagnoseWorkspace(ctx context.Context, cmd *cobra.Command, arg string) (v1.Diagnosis, error) {
	p, err := a.provisioner(cmd)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	target, err := p.Find(ctx, arg)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	subject := target.Subject()
	d, err := diagnose.Live(ctx, p.Client, subject, p.Policy, a.streams.Now())
	if fault.CodeOf(err) == fault.NotFound { // its record is there, or it would not have been found
		pod, reading := target.Podless()
		return diagnose.Podless(pod, reading, a.streams.Now()), nil
	}
	return d, err
}

// isWorkspace tells user strings and IDs from KIND/NAME. A user string can have
// a slash in it, but not before its first sign.
func isWorkspace(arg string) bool {
	kind, _, slash := strings.Cut(arg, "/")
	return !slash || kind == "id" || strings.ContainsAny(kind, "@~+=")
}
