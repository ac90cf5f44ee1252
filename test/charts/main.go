// Command charts renders charts with Helm and with berth, and lists what differs: objects and their order, hooks,
// notes, definitions of crds/, and what is refused.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// errDiffers ends the program where the two do not make the same.
var errDiffers = errors.New("berth and Helm differ")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}

// usage is printed above the flags.
const usage = `usage: go run . [FLAG...] DIRECTORY...

Compare what berth and Helm make of every chart in the directories: of directories with a
Chart.yaml and of .tgz files, each with its own values, with every ci/*values.yaml and with
every ci/*.set, whose lines are values as for --set. With -time, measure the two programs.

`

// options are what the command line says.
type options struct {
	release, namespace, kubeVersion string
	berth                           string
	rounds                          int
	time, verbose                   bool
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("charts", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.release, "release-name", "release-name", "the release that templates see")
	flags.StringVar(&o.namespace, "namespace", "default", "the namespace that templates see")
	flags.StringVar(&o.kubeVersion, "kube-version", defaultKubeVersion, "the version of Kubernetes that templates see")
	flags.BoolVar(&o.verbose, "v", false, "print what is the same, too")
	flags.BoolVar(&o.time, "time", false, "measure `bundle template` and `helm template`; without a directory, on "+
		"charts that are made for it")
	flags.StringVar(&o.berth, "berth", "", "with -time: a berth to measure instead of the checkout's")
	flags.IntVar(&o.rounds, "rounds", 11, "with -time: how often each program renders a chart")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.time {
		return measure(ctx, o, flags.Args(), out)
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return errors.New("no directory is named")
	}
	return compareAll(ctx, o, flags.Args(), out)
}

// compareAll compares every chart with every file of values, and prints what differs and how much was compared.
func compareAll(ctx context.Context, o options, dirs []string, out io.Writer) error {
	cases, charts, err := find(dirs)
	if err != nil {
		return err
	}
	both, err := newRenderers(o)
	if err != nil {
		return err
	}
	defer both.close()
	var total totals
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := both.compare(ctx, c)
		total.add(r)
		for _, difference := range r.differences {
			fmt.Fprintf(out, "%s: %s\n", c, difference)
		}
		if o.verbose {
			fmt.Fprintf(out, "%s: %s\n", c, r)
		}
	}
	fmt.Fprintf(out, "%d charts, %s\n", charts, total)
	if total.differ > 0 {
		return errDiffers
	}
	return nil
}

// totals count what was compared.
type totals struct {
	same, refused, differ          int
	objects, hooks, notes, adapted int
}

func (t *totals) add(r result) {
	switch {
	case len(r.differences) > 0:
		t.differ++
	case r.refused != nil:
		t.refused++
	default:
		t.same++
	}
	t.objects += r.objects
	t.hooks += r.hooks
	t.adapted += r.adapted
	if r.notes {
		t.notes++
	}
}

func (t totals) String() string {
	return fmt.Sprintf("rendered %d times: %d the same, %d refused by both, %d differ (%d objects, %d hooks, "+
		"%d notes; %d fields that berth adapts, with a warning)", t.same+t.refused+t.differ, t.same, t.refused,
		t.differ, t.objects, t.hooks, t.notes, t.adapted)
}
