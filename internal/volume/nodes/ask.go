package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
)

const (
	// maxPicture is how much of a node's list is read, in bytes: a hundred thousand
	// volumes.
	maxPicture = 64 << 20
	// maxComplaints is how much is kept of what a driver complains.
	maxComplaints = 64 << 10
	// atOnce is how many nodes are asked at once.
	atOnce = 16
)

var _ volume.Node = Node{}

// Picture lists what is in its afterlife.
func (n Node) Picture(ctx context.Context) (picture volume.Picture, err error) {
	out := limited{most: maxPicture}
	if err := n.do(ctx, &out, "list"); err != nil {
		return picture, err
	}
	if err := json.Unmarshal(out.text.Bytes(), &picture); err != nil || out.more {
		return picture, fault.New(fault.Failed, "the list of node %s cannot be read", n.Name).
			WithHint("berth there may be of another version: see its pod %s", n.Pod)
	}
	picture.Node = n.Name // whatever it says
	return picture, nil
}

// Archive writes the files of a volume as a tar stream.
func (n Node) Archive(ctx context.Context, id string, to io.Writer) error {
	return n.do(ctx, to, "archive", id)
}

// Purge removes a volume now.
func (n Node) Purge(ctx context.Context, id string) error { return n.do(ctx, io.Discard, "purge", id) }

// do runs a command in the driver's pod.
func (n Node) do(ctx context.Context, out io.Writer, words ...string) error {
	if n.Unready != "" {
		return fault.New(fault.Unavailable, "the driver of node %s cannot be asked: %s", n.Name, n.Unready).
			WithHint("see its pod %s", n.Pod)
	}
	stderr := exec.Beginning{Max: maxComplaints}
	status, err := n.run(ctx, slices.Concat(n.ask, n.last, []string{"--"}, words),
		exec.Session{Stdout: out, Stderr: &stderr})
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case status == 0:
		return nil
	}
	if failure := admin.ParseFailure(lastLine(stderr.String())); failure != nil {
		return failure
	}
	return fault.New(fault.Failed, "the driver of node %s ends with status %d: %s", n.Name, status,
		strings.TrimSpace(stderr.String())).
		WithHint("berth there may be of another version: see its pod %s", n.Pod)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// limited keeps what is written, up to a bound.
type limited struct {
	text bytes.Buffer
	most int
	more bool
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > l.most {
		l.more = true
		return len(p), nil
	}
	return l.text.Write(p)
}

// Answer is what a node says.
type Answer struct {
	Node    Node
	Picture volume.Picture
	Err     error
}

// Ask asks nodes side by side, each for a time. The answers are in the order of the nodes.
func Ask(ctx context.Context, all []Node, each time.Duration) []Answer {
	answers := make([]Answer, len(all))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, n := range all {
		group.Go(func() error {
			answers[i].Node = n
			late := fault.New(fault.Unavailable, "node %s does not answer within %s", n.Name, each)
			ctx, cancel := context.WithTimeoutCause(ctx, each, late)
			defer cancel()
			answers[i].Picture, answers[i].Err = n.Picture(ctx)
			return nil
		})
	}
	_ = group.Wait()
	return answers
}
