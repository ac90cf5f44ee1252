package volume

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume/read"
)

// ReadOptions are what the command line says.
type ReadOptions struct {
	Drivers
	Readers

	ID, Path string
	Part     read.Span
}

// NewRead makes `berth volume read`.
func NewRead(f *cmdutil.Factory, runF func(context.Context, *ReadOptions) error) *cobra.Command {
	o := &ReadOptions{Drivers: Drivers{IO: f.IO}}
	var offset, tail int64
	span := ""
	cmd := &cobra.Command{
		Use:        "read VOLUME PATH",
		SuggestFor: []string{"cat", "tail", "show"},
		Short:      "Print a file that a pod has left on a scratch volume",
		Long: `Print a file, or a part of it, that a pod has left on a scratch volume. The beginning of the
ID is enough if it is that of one volume; "berth volume list" has the IDs, and
"berth volume list VOLUME" the files.

The driver of the volume's node is asked, at --read-url or volumes.readURL of the
configuration, and asks the API server whether the caller may: it takes the ClusterRole
scratch-volume-reader in the namespace of the pod. Links are followed as long as they stay
in the volume. Pipes, sockets and devices are refused.

Reading does not keep a volume: one that is removed meanwhile is an error, and so is
whatever else keeps a file from arriving as a whole.`,
		Example: `  berth volume read 1f0c9a2b4d logs/build.log
  berth volume read 1f0c9a2b4d logs/build.log --tail 4096
  berth volume read 1f0c9a2b4d core --range 0-511 | xxd`,
		Args:              cmdutil.TwoArgs("volume", "path"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) (err error) {
			o.ID, o.Path = args[0], args[1]
			if err := checkVolume(o.ID, o.Path); err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			if o.Part, err = partOf(changed("offset"), offset, changed("tail"), tail, span); err != nil {
				return err
			}
			return cmdutil.CheckTimeout(o.Timeout)
		}),
	}
	readers(f, cmd, &o.Readers)
	flags := cmd.Flags()
	flags.Int64Var(&offset, "offset", 0, "leave out so many bytes at the beginning")
	flags.Int64Var(&tail, "tail", 0, "print the last so many bytes alone")
	flags.StringVar(&span, "range", "", "print these bytes alone, FIRST-LAST, counted from 0")
	cmd.MarkFlagsMutuallyExclusive("offset", "tail", "range")
	cmdutil.NoFlagValues(cmd, "offset", "tail", "range")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	return cmd
}

// partOf is the part of a file that the flags name; all of it without them.
func partOf(from bool, offset int64, last bool, tail int64, span string) (read.Span, error) {
	switch {
	case from && offset < 0:
		return "", fault.New(fault.InvalidArgument, "--offset must not be negative, got %d", offset)
	case from && offset > 0:
		return read.From(offset), nil
	case last && tail < 1:
		return "", fault.New(fault.InvalidArgument, "--tail must be at least 1, got %d", tail)
	case last:
		return read.Last(tail), nil
	case span == "":
		return "", nil
	}
	first, end, ranged := strings.Cut(span, "-")
	a, err := strconv.ParseUint(first, 10, 63)
	b, endErr := strconv.ParseUint(end, 10, 63)
	if !ranged || err != nil || endErr != nil || a > b || b > math.MaxInt64 {
		return "", fault.New(fault.InvalidArgument, "--range must be FIRST-LAST, such as 0-511, got %q", span)
	}
	return read.Between(int64(a), int64(b)), nil
}

// checkVolume finds what is wrong with what names a volume and a path in it.
func checkVolume(id, path string) error {
	if strings.ContainsRune(path, 0) {
		return fault.New(fault.InvalidArgument, "path %q has a null character", path)
	}
	return checkIDs([]string{id})
}

// volumeAndPath takes VOLUME[:PATH] apart.
func volumeAndPath(text string) (id, path string, err error) {
	id, path, _ = strings.Cut(text, ":")
	return id, path, checkVolume(id, path)
}

// Read prints the file.
func Read(ctx context.Context, o *ReadOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c, namespace, err := o.required(ctx)
	if err != nil {
		return err
	}
	v, err := o.locate(ctx, c, namespace, o.ID)
	if err == nil {
		err = v.File(ctx, o.Path, o.Part, o.IO.Out)
	}
	return cmdutil.Because(ctx, err)
}
