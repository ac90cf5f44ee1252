package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// program is one of the two that are measured.
type program struct {
	name  string
	args  []string // before the chart
	times []spent
}

// spent is what one run takes.
type spent struct{ wall, cpu time.Duration }

// measure runs both programs in turns on each chart, and prints the medians and how they compare.
func measure(ctx context.Context, o options, dirs []string, out io.Writer) error {
	home, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home) //nolint:errcheck // what is left is in the directory for that
	charts, err := toMeasure(home, dirs)
	if err != nil {
		return err
	}
	helm, berth, err := programs(ctx, o, home)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "chart\thelm template\tbundle template\tratio\tprocessor: helm\tberth\tratio")
	for _, chart := range charts {
		both := []*program{
			{name: helm, args: []string{"template", "release-name"}},
			{name: berth, args: []string{"bundle", "template"}},
		}
		for round := range o.rounds + 1 {
			for _, p := range both {
				one, err := p.run(ctx, home, chart)
				if err != nil {
					return err
				}
				if round > 0 { // the first one fills the caches
					p.times = append(p.times, one)
				}
			}
			slices.Reverse(both)
		}
		slices.SortFunc(both, func(a, _ *program) int { return map[string]int{helm: -1, berth: 1}[a.name] })
		h, b := both[0].median(), both[1].median()
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f\t%s\t%s\t%.2f\n", filepath.Base(chart), rounded(h.wall), rounded(b.wall),
			float64(b.wall)/float64(h.wall), rounded(h.cpu), rounded(b.cpu), float64(b.cpu)/float64(h.cpu))
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// toMeasure are the charts in directories, or some that are made.
func toMeasure(into string, dirs []string) (charts []string, err error) {
	if len(dirs) == 0 {
		return made(into)
	}
	for _, dir := range dirs {
		found, err := chartsIn(dir)
		if err != nil {
			return nil, err
		}
		charts = append(charts, found...)
	}
	return charts, nil
}

// programs are helm, in the version of scripts/tools.versions, and berth, built alike.
func programs(ctx context.Context, o options, dir string) (helm, berth string, err error) {
	root, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", "", fmt.Errorf("this runs in a checkout of berth: %w", err)
	}
	checkout := strings.TrimSpace(string(root))
	tool := exec.CommandContext(ctx, filepath.Join(checkout, "scripts", "tool"), "helm")
	tool.Stderr = os.Stderr
	path, err := tool.Output()
	if err != nil {
		return "", "", err
	}
	if o.berth != "" {
		berth, err = filepath.Abs(o.berth)
		return strings.TrimSpace(string(path)), berth, err
	}
	berth = filepath.Join(dir, "berth")
	build := exec.CommandContext(ctx, "go", "build", "-tags", "grpcnotrace", "-trimpath", "-ldflags=-s -w", "-o", berth,
		"./cmd/berth")
	build.Dir, build.Stderr = checkout, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return strings.TrimSpace(string(path)), berth, build.Run()
}

// run renders a chart once.
func (p *program) run(ctx context.Context, home, chart string) (spent, error) {
	cmd := exec.CommandContext(ctx, p.name, append(slices.Clone(p.args), chart)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	var said bytes.Buffer
	cmd.Stderr = &said
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return spent{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said.String())
	}
	return spent{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// median is that of each column.
func (p *program) median() spent {
	var wall, cpu []time.Duration
	for _, one := range p.times {
		wall, cpu = append(wall, one.wall), append(cpu, one.cpu)
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	return spent{wall[len(wall)/2], cpu[len(cpu)/2]}
}
