package volume

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/nodes"
	"github.com/berthdev/berth/internal/volume/read"
)

// Readers say at which drivers what pods have left is read, and how.
type Readers struct {
	// Find finds them; found is false if nothing says where they are.
	Find func(ctx context.Context, url, ca string) (c read.Client, namespace string, found bool, err error)

	URL, CA string
}

const flagReadURL = "read-url"

func readers(f *cmdutil.Factory, cmd *cobra.Command, r *Readers) {
	r.Find = f.For(cmd).VolumeReaders
	flags := cmd.Flags()
	flags.StringVar(&r.URL, flagReadURL, "", "where the drivers let users read, https://HOST:PORT (default: "+
		"volumes.readURL of the configuration)")
	flags.StringVar(&r.CA, "read-ca", "", "the file of the authorities of their certificate (default: volumes.readCA "+
		"of the configuration)")
	cmdutil.NoFlagValues(cmd, flagReadURL)
}

// required finds the drivers, which have to be known.
func (r *Readers) required(ctx context.Context) (c read.Client, namespace string, err error) {
	c, namespace, found, err := r.Find(ctx, r.URL, r.CA)
	if err == nil && !found {
		err = fault.New(fault.InvalidArgument, "where the drivers let users read is not known").
			WithHint("set volumes.readURL in the configuration, or --%s; an administrator restores volumes without it",
				flagReadURL)
	}
	return c, namespace, err
}

// heard is what a driver answers.
type heard struct {
	driver read.Driver
	answer nodes.Answer
}

// askedAtOnce is how many drivers are asked at once.
const askedAtOnce = 16

// askAll asks all drivers the same. Each has a time.
func askAll(ctx context.Context, c read.Client,
	ask func(context.Context, read.Driver) (volume.Picture, error),
) ([]heard, error) {
	drivers, err := c.Drivers(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]heard, len(drivers))
	var group errgroup.Group
	group.SetLimit(askedAtOnce)
	for i, d := range drivers {
		group.Go(func() error {
			late := fault.New(fault.Unavailable, "%s does not answer within %s", d, perNode)
			ctx, cancel := context.WithTimeoutCause(ctx, perNode, late)
			defer cancel()
			picture, err := ask(ctx, d)
			name := picture.Node
			if err != nil {
				name = d.Address
			}
			all[i] = heard{d, nodes.Answer{Node: nodes.Node{Name: name}, Picture: picture, Err: err}}
			return nil
		})
	}
	_ = group.Wait()
	return all, context.Cause(ctx)
}

// pictures lists the volumes of a namespace; those of a workspace alone if a role is limited to that.
func pictures(ctx context.Context, c read.Client, namespace, of string) ([]heard, error) {
	all, err := askAll(ctx, c, func(ctx context.Context, d read.Driver) (volume.Picture, error) {
		picture, err := d.Picture(ctx, namespace, "")
		if fault.CodeOf(err) != fault.PermissionDenied || of == "" {
			return picture, err
		}
		return d.Picture(ctx, namespace, workspaceID(of))
	})
	return all, err
}

// workspaceID is the ID of the workspace that a user string stands for, which can also be that ID.
func workspaceID(of string) string {
	if u, err := userstring.Parse(of); err == nil && strings.ContainsAny(of, "~+") {
		return u.ID()
	}
	return of
}

// answers are what the drivers answer.
func answers(all []heard) (list []nodes.Answer) {
	for _, h := range all {
		list = append(list, h.answer)
	}
	return list
}

// wholeID is how long the ID of an inline volume is, as the kubelet makes it.
const wholeID = len("csi-") + 64

// locate finds a volume, and the driver that has it. Of a whole ID, the drivers are asked for that volume alone, which
// takes no permission to list.
func (d *Drivers) locate(ctx context.Context, c read.Client, namespace, id string) (read.Volume, error) {
	whole := len(id) == wholeID
	var all []heard
	var err error
	if whole {
		all, err = askAll(ctx, c, func(ctx context.Context, at read.Driver) (volume.Picture, error) {
			return at.Volume(ctx, namespace, id)
		})
	} else {
		all, err = pictures(ctx, c, namespace, "")
	}
	if err != nil {
		return read.Volume{}, err
	}
	if whole {
		return located(all, namespace, id)
	}
	list, err := d.heard(answers(all))
	if err != nil {
		return read.Volume{}, err
	}
	k, err := find(list, id)
	if err != nil {
		return read.Volume{}, err
	}
	for _, h := range all {
		if h.answer.Err == nil && h.answer.Node.Name == k.on.Node.Name {
			return volumeAt(h, namespace, k.ID), nil
		}
	}
	return read.Volume{}, fault.New(fault.Internal, "volume %s is on no node", id)
}

// located is the driver that has the volume. Of the others, one that was removed says more than one that is not there,
// and that less than why a driver was not asked.
func located(all []heard, namespace, id string) (read.Volume, error) {
	var why error
	for _, h := range all {
		err := h.answer.Err
		switch {
		case err == nil:
			return volumeAt(h, namespace, id), nil
		case why == nil, fault.ReasonOf(err) == volume.ReasonRemoved,
			fault.CodeOf(why) == fault.NotFound && fault.ReasonOf(why) == "":
			why = err
		}
	}
	return read.Volume{}, why
}

func volumeAt(h heard, namespace, id string) read.Volume {
	return read.Volume{Driver: h.driver, Node: h.answer.Node.Name, Namespace: namespace, ID: id}
}
