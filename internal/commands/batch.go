package commands

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// aboutBatch is what the help of provision says about --filename.
const aboutBatch = `
With --filename it brings up many at once, --parallel at a time. The file has a
user string a line, with # comments, or is a YAML or JSON list of user strings
or of {userString: ...}. Whatever is wrong in it is said, all of it, before the
cluster is asked. --timeout is for all of them together. One that fails stops no
other. The exit status is 3 if any of them failed, whatever its own code is,
which stands in the document; Ctrl-C stops following all of them.`

// batchFlags are those of a provisioning of many.
type batchFlags struct {
	file     string
	parallel int
}

const (
	defaultParallel = 4
	// batchLimit is how large a file can be: far more than anybody follows.
	batchLimit = 1 << 20
)

func (f *batchFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "provision the user strings in this file, - for standard input")
	flags.IntVar(&f.parallel, "parallel", defaultParallel, "how many of those to work on at a time")
	_ = cmd.RegisterFlagCompletionFunc("parallel", cobra.NoFileCompletions)
}

// given says whether the command line is about many, or thinks so.
func (f *batchFlags) given(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("filename") || cmd.Flags().Changed("parallel")
}

func (f *batchFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case !cmd.Flags().Changed("filename"):
		return usage(cmd, fault.New(fault.InvalidArgument, "--parallel is for many user strings, which --filename names"))
	case f.file == "":
		return usage(cmd, fault.New(fault.InvalidArgument, "--filename is empty"))
	case f.parallel < 1:
		return usage(cmd, fault.New(fault.InvalidArgument, "--parallel %d is less than 1", f.parallel))
	case cmd.Flags().Changed("dry-run"):
		return usage(cmd, fault.New(fault.InvalidArgument, "--dry-run is for one workspace at a time"))
	case len(args) > 0:
		return usage(cmd, fault.New(fault.InvalidArgument, "with --filename, %q has to stand in the file", args[0]))
	}
	return nil
}

// read reads the file, or standard input.
func (f *batchFlags) read(a *app) ([]userstring.UserString, error) {
	name, source := "standard input", io.Reader(a.streams.In)
	if f.file != "-" {
		file, err := os.Open(f.file)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "cannot read the user strings: %w", err).WithHint(batchExample)
		}
		defer file.Close()
		name, source = f.file, file
	}
	content, err := io.ReadAll(io.LimitReader(source, batchLimit+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "cannot read the user strings: %s: %w", name, err).WithHint(batchExample)
	case len(content) > batchLimit:
		return nil, fault.New(fault.InvalidArgument, "%s is larger than %d MiB", name, batchLimit>>20).WithHint(batchExample)
	}
	return parseBatch(name, content)
}

// again is the command that takes up what is not done.
func (o *provisionOptions) again(cmd *cobra.Command) string {
	line := "berth provision " + wording.Flag("-f", o.batch.file)
	if o.batch.parallel != defaultParallel {
		line += " --parallel " + strconv.Itoa(o.batch.parallel)
	}
	return strings.Join(append([]string{line, "--if-not-exists"}, givenFlags(cmd)...), " ")
}

func (o *provisionOptions) runBatch(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	if err := o.batch.check(cmd, args); err != nil {
		return err
	}
	users, err := o.batch.read(a)
	if err != nil {
		return err
	}
	p, err := o.provisioner(a, cmd)
	if err != nil {
		return err
	}
	ctx, cancel := o.deadline(ctx)
	defer cancel()
	b := wording.Batch{Namespace: p.Client.Namespace, Parallel: o.batch.parallel, Flags: givenFlags(cmd), Again: o.again(cmd)}
	for _, u := range users {
		b.Members = append(b.Members, wording.Title{UserString: u.String(), ID: u.ID(), Namespace: p.For(u).Client.Namespace, Verb: "provision", Flags: b.Flags})
	}
	view := a.startProgressOfMany(o.output.format, b)
	records, err := a.keepRecords(ctx, cmd, p.Client)
	if err != nil {
		return err
	}
	defer records.close()
	stream := event.NewStream("", time.Now, view)
	summary := o.provisionAll(ctx, p, b, users, stream, records)
	result := v1.Result{Summary: &summary}
	stream.Finish(result)
	defer records.warn(a.streams)
	if err := printer.Report(a.streams, o.output.format, result, view.Shown()); err != nil {
		return err
	}
	if o.timing {
		printer.PrintTimings(a.streams, summary)
	}
	if summary.ExitStatus != 0 {
		return statusError(summary.ExitStatus)
	}
	return nil
}
