package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

const (
	workspace = "bench~bench"
	// aim is how much of kubectl's bytes a second berth carries, at least.
	aim = 0.95
)

// direction is one way for bytes to go.
type direction struct {
	name    string
	command []string // in the pod
	in, out bool     // whether this end writes, and reads
}

func directions(mebibytes int) []direction {
	count := "count=" + strconv.Itoa(mebibytes)
	return []direction{
		{"into the pod", []string{"sh", "-c", "cat >/dev/null"}, true, false},
		{"out of the pod", []string{"dd", "if=/dev/zero", "bs=1048576", count}, false, true},
		{"there and back", []string{"cat"}, true, true},
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "berth-streams-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	if o.berth == "" || o.kubectl == "" {
		built, err := tools.Build(ctx, "../..", home, func(s string) { fmt.Fprintln(os.Stderr, s) })
		if err != nil {
			return err
		}
		if o.berth == "" {
			o.berth = built.Berth
		}
		if o.kubectl == "" {
			o.kubectl = built.Kubectl
		}
	}
	env := append(process.Env(home, o.kubeconfig), "BERTH_BLUEPRINTS=blueprints")
	id, err := process.Output(ctx, env, o.berth, "provision", workspace, "--if-not-exists", "--set", "resources.cpu=2", "--set", "resources.memory=256Mi", "-o", "name")
	if err != nil {
		return err
	}
	defer func() { _, _ = process.Output(context.WithoutCancel(ctx), env, o.berth, "delete", workspace, "--yes") }()
	return contest(ctx, o, env, strings.TrimSpace(id))
}

// contest runs both in turns, and prints the medians. A first round of each is not counted.
func contest(ctx context.Context, o options, env []string, id string) error {
	missed := false
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "%d MIB\tBERTH\tKUBECTL\tBERTH/KUBECTL\n", o.mebibytes)
	for _, d := range directions(o.mebibytes) {
		var ours, theirs []time.Duration
		for round := range o.rounds + 1 {
			a, err := session(ctx, o, env, d, append([]string{o.berth, "exec", "-i", workspace, "--"}, d.command...))
			if err != nil {
				return err
			}
			b, err := session(ctx, o, env, d, append([]string{o.kubectl, "exec", "-i", id, "--"}, d.command...))
			if err != nil {
				return err
			}
			if round > 0 {
				ours, theirs = append(ours, a), append(theirs, b)
			}
		}
		ratio := median(theirs).Seconds() / median(ours).Seconds()
		missed = missed || ratio < aim
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f (aim: %.2f)\n", d.name, rate(o, ours), rate(o, theirs), ratio, aim)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if missed && o.strict {
		return errors.New("an aim is missed")
	}
	return nil
}

// session carries the bytes through one session, from its start to its end.
func session(ctx context.Context, o options, env []string, d direction, argv []string) (time.Duration, error) {
	total := int64(o.mebibytes) << 20
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stderr strings.Builder
	var out bytes
	cmd.Env, cmd.Stderr, cmd.Stdout = env, &stderr, &out
	if d.in {
		cmd.Stdin = io.LimitReader(zeros{}, total)
	}
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, stderr.String())
	}
	if d.out && int64(out) != total {
		return 0, fmt.Errorf("%s: %d bytes came back of %d", strings.Join(argv, " "), out, total)
	}
	return time.Since(begun), nil
}

// zeros has no end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bytes counts those that are written, and keeps none.
type bytes int64

// Write implements io.Writer.
func (n *bytes) Write(p []byte) (int, error) {
	*n += bytes(len(p))
	return len(p), nil
}

func median(took []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(took))[len(took)/2]
}

func rate(o options, took []time.Duration) string {
	return fmt.Sprintf("%.0f MiB/s", float64(o.mebibytes)/median(took).Seconds())
}
