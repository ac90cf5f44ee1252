package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/test/bench/internal/cluster"
	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/proxy"
	"github.com/berthdev/berth/test/bench/internal/report"
)

// rest lets what the API server does after a deletion end, and the last words
// of a client reach the proxy.
const rest = 300 * time.Millisecond

// Contest is what the runs have in common.
type Contest struct {
	Client kubernetes.Interface // past the proxy
	Proxy  *proxy.Proxy
	Env    []string
	Prefix string // of the namespaces
	Say    func(string)
}

// Within runs something in a namespace of its own, which is gone afterwards
// whatever happens.
func (c Contest) Within(ctx context.Context, name string, do func(namespace string) error) (err error) {
	name = c.Prefix + "-" + name
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Minute)
		defer cancel()
		err = errors.Join(err, cluster.Remove(ctx, c.Client, name))
	}()
	if err := cluster.Create(ctx, c.Client, name); err != nil {
		return err
	}
	return do(name)
}

// Section lets the programs take turns, so that what disturbs the machine for a
// while disturbs all of them alike. The first round warms up and is not counted.
func (c Contest) Section(ctx context.Context, s Subject, programs []Program, delay time.Duration,
	rounds int,
) (report.Section, error) {
	section := report.Section{Title: "straight", Subject: report.Workspace, Delay: delay, Objects: s.Objects}
	if delay > 0 {
		section.Title = fmt.Sprintf("%s added to a request", delay)
	}
	c.Proxy.SetDelay(delay)
	defer c.Proxy.SetDelay(0)
	for round := range rounds + 1 {
		for _, program := range programs {
			name := fmt.Sprintf("%d-%d-%s", delay.Milliseconds(), round, program.Name)
			err := c.Within(ctx, name, func(namespace string) error {
				sample, err := c.run(ctx, s, program, namespace)
				if err == nil && round > 0 {
					section.Samples = append(section.Samples, sample)
				}
				return err
			})
			if err != nil {
				return section, fmt.Errorf("%s, round %d of %s: %w", section.Title, round, program.Name, err)
			}
		}
		c.Say(fmt.Sprintf("%s: round %d of %d", section.Title, round, rounds))
	}
	return section, nil
}

func (c Contest) run(ctx context.Context, s Subject, program Program, namespace string) (report.Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen, err := cluster.Ready(ctx, c.Client, namespace, s.Pod)
	if err != nil {
		return report.Sample{}, err
	}
	time.Sleep(rest)
	c.Proxy.Take()
	usage, err := process.Run(ctx, c.Env, io.Discard, program.Commands(namespace)...)
	if err != nil {
		return report.Sample{}, err
	}
	select {
	case ready := <-seen:
		return sample(program.Name, s.Objects, usage, ready, c.Proxy.Take())
	case <-time.After(5 * time.Second):
		return report.Sample{}, fmt.Errorf("%s ended well, but the pod was not ready", program.Name)
	}
}
