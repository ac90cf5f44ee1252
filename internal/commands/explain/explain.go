// Package explain is the command `berth explain`.
package explain

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// Options are what the command line says.
type Options struct {
	IO     terminal.Streams
	Cause  string // a code or one of Kubernetes' reasons; empty for all causes
	Output printer.Format
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "explain [CAUSE]",
		SuggestFor: []string{"cause", "causes", "reason", "reasons"},
		Short:      "Explain a cause for which something does not start",
		Long: `Explain a cause, as diagnose and status name it: what it means, how to recognize it,
what to do, what each policy makes of it, and a case of it. CAUSE can be Kubernetes'
own word for it, such as CrashLoopBackOff. Without an argument, list all causes.

Nothing is asked of a cluster. The same is in docs/causes.md.`,
		Example: `  berth explain
  berth explain ImageNotFound
  berth explain CrashLoopBackOff --output json | jq -r '.remedies[]'`,
		Args:              cmdutil.MaxOneArg("cause"),
		ValidArgsFunction: cmdutil.CompleteOne(cmdutil.Causes),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Cause = cmdutil.Optional(args)
			return runF(cmd.Context(), o)
		},
	}
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// Run prints what there is to read about a cause.
func Run(_ context.Context, o *Options) error {
	found := catalog.Explanations()
	if o.Cause != "" {
		if found = catalog.Explain(o.Cause); len(found) == 0 {
			return unknown(o.Cause)
		}
	}
	var list v1.ExplanationList
	for _, e := range found {
		explanation, err := observed(e.Explanation)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, explanation)
	}
	if len(list.Items) == 1 {
		return printer.Print(o.IO, o.Output, result.Explanation{Explanation: list.Items[0]})
	}
	for i := range list.Items {
		list.Items[i].Example = nil
	}
	return printer.Print(o.IO, o.Output, result.Explanations{ExplanationList: list})
}

// unknown refuses what is not a cause, and suggests the one that is meant.
func unknown(name string) error {
	codes, kubernetes := catalog.Reasons()
	all := slices.Concat(codes, kubernetes)
	err := fault.New(fault.InvalidArgument, "unknown cause %q", name)
	if nearest := cmdutil.NearestName(name, all); nearest != "" {
		return err.WithHint("did you mean `berth explain %s`?", nearest)
	}
	switch like := having(name, all); {
	case len(like) == 1:
		return err.WithHint("did you mean `berth explain %s`?", like[0])
	case len(like) > 1 && len(like) <= mostLike:
		return err.WithHint("did you mean one of: %s?", strings.Join(like, ", "))
	}
	return err.WithHint("`berth explain` lists the causes")
}

// mostLike is of how many causes one is meant; of more, the list is as good.
const mostLike = 8

// having are the names of which a part was typed.
func having(typed string, names []string) (like []string) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if len(typed) > 1 && strings.Contains(strings.ToLower(name), strings.ToLower(typed)) {
			like = append(like, name)
		}
	}
	return like
}
