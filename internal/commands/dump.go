package commands

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// ofDump diagnoses what a file or standard input says. It needs no cluster.
func (o *diagnoseOptions) ofDump(a *app, cmd *cobra.Command, now time.Time) (v1.Diagnosis, error) {
	wanted, err := o.wanted()
	if err != nil {
		return v1.Diagnosis{}, err
	}
	wanted.Namespace = *a.kube.Namespace // of the flag alone: the kubeconfig has no say here
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	dump, err := o.read(a)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	dump, at, err := dump.Until(now, a.streams.Now())
	if err != nil {
		return v1.Diagnosis{}, err
	}
	subject, err := dump.Choose(wanted)
	if err != nil {
		return v1.Diagnosis{}, err
	}
	c.Policy.CauseDelay = 0 // a dump says no more: whatever it waits for is as good as final
	return dump.Diagnose(subject, c.Policy, at), nil
}

// wanted reads --subject. A user string is understood as well: it is what one
// knows a workspace by.
func (o *diagnoseOptions) wanted() (watch.Subject, error) {
	if !strings.ContainsAny(o.subject, "@~+=") {
		return diagnose.ParseSubject(strings.TrimPrefix(o.subject, "id/"))
	}
	u, err := userstring.Parse(o.subject)
	return watch.Subject{Kind: watch.KindPod, Name: u.ID()}, err
}

func (o *diagnoseOptions) read(a *app) (diagnose.Dump, error) {
	if o.file == "-" {
		return diagnose.Read(a.streams.In, "standard input")
	}
	file, err := os.Open(o.file)
	if err != nil {
		return diagnose.Dump{}, fault.New(fault.InvalidArgument, "cannot read the dump: %w", err)
	}
	defer file.Close()
	return diagnose.Read(io.Reader(file), o.file)
}
