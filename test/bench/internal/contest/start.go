package contest

import (
	"context"
	"fmt"
	"io"

	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/report"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

// Start measures what it takes to start each program and to have it say its
// version, which needs no cluster.
func Start(ctx context.Context, env []string, p tools.Paths, runs int) (report.Section, error) {
	section := report.Section{Title: fmt.Sprintf("printing the version, %d times", runs), Subject: report.Starting}
	commands := []struct {
		name string
		argv []string
	}{
		{report.Berth, []string{p.Berth, "--version"}},
		{report.Helm, []string{p.Helm, "version"}},
		{report.Kubectl, []string{p.Kubectl, "version", "--client"}},
	}
	for run := range runs + 1 {
		for _, command := range commands {
			usage, err := process.Run(ctx, env, io.Discard, command.argv)
			if err != nil {
				return section, err
			}
			if run == 0 {
				continue // reads the program from the disk
			}
			section.Samples = append(section.Samples, report.Sample{
				Program: command.name,
				Values: map[report.Metric]float64{
					report.Start:  usage.Exited.Sub(usage.Started).Seconds(),
					report.CPU:    usage.CPU.Seconds(),
					report.Memory: float64(usage.MaxRSS) / (1 << 20),
				},
			})
		}
	}
	return section, nil
}
