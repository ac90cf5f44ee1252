package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berthdev/berth/test/bench/internal/process"
)

// commands are what is run, side by side.
func commands(berth, kubectl string) [][]string {
	return [][]string{
		{berth, "status", "-A"},
		{kubectl, "get", "pods", "-A"},
		{berth, "status", "-A", "-o", "json"},
		{kubectl, "get", "pods", "-A", "-o", "json"},
		{berth, "status", "-A", "-o", "name"},
		{kubectl, "get", "pods", "-A", "-o", "name"},
		{berth, "status", "-A", "--stage", "Starting"},
		{berth, "status", "-A", "--owner", "user7"},
	}
}

func measure(ctx context.Context, o options) error {
	home, err := os.MkdirTemp("", "berth-fleet-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }()
	if err := o.Build(ctx, home); err != nil {
		return err
	}
	all := commands(o.Berth, o.Kubectl)
	took, memory, written := make([][]time.Duration, len(all)), make([]int64, len(all)), make([]lines, len(all))
	for round := range o.rounds + 1 {
		for i, argv := range all {
			var out lines
			usage, err := process.Run(ctx, process.Env(home, o.Kubeconfig), &out, argv)
			if err != nil {
				return err
			}
			if round == 0 {
				continue // fills kubectl's cache of what there is to ask for
			}
			took[i] = append(took[i], usage.Exited.Sub(usage.Started))
			memory[i], written[i] = max(memory[i], usage.MaxRSS), out
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "COMMAND\tMEDIAN\tSLOWEST\tMAX RSS\tLINES")
	for i, argv := range all {
		slices.Sort(took[i])
		fmt.Fprintf(table, "%s\t%s\t%s\t%d MiB\t%d\n", name(argv), seconds(took[i][len(took[i])/2]),
			seconds(took[i][len(took[i])-1]), memory[i]>>20, written[i])
	}
	return table.Flush()
}

// lines counts those that a command writes, and keeps none.
type lines int

func (n *lines) Write(b []byte) (int, error) {
	*n += lines(bytes.Count(b, []byte("\n")))
	return len(b), nil
}

func name(argv []string) string {
	return argv[0][strings.LastIndex(argv[0], "/")+1:] + " " + strings.Join(argv[1:], " ")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
