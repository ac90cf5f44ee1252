package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/test/bench/internal/contest"
	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/proxy"
	"github.com/berthdev/berth/test/bench/internal/report"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	checkout, err := findCheckout()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	begun := time.Now()
	say := func(line string) { fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(begun).Seconds(), line) }
	paths, err := tools.Build(ctx, checkout, dir, say)
	if err != nil {
		return err
	}
	if o.berth != "" {
		paths.Berth = o.berth
	}
	sections, err := measure(ctx, o, checkout, dir, paths, say)
	if err != nil {
		return err
	}
	return show(o, sections)
}

// measure is the benchmark.
func measure(ctx context.Context, o options, checkout, dir string, paths tools.Paths,
	say func(string),
) ([]report.Section, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	through, err := proxy.Start(config)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	defer func() { _ = through.Close() }()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := through.WriteKubeconfig(kubeconfig); err != nil {
		return nil, err
	}
	env := process.Env(filepath.Join(dir, "home"), kubeconfig)

	say("starting")
	start, err := contest.Start(ctx, env, paths, o.starts)
	if err != nil {
		return nil, err
	}
	c := contest.Contest{
		Client: client, Proxy: through, Env: env, Prefix: fmt.Sprintf("bench-%d", os.Getpid()),
		Say: say,
	}
	workspaces, err := ofWorkspaces(ctx, o, c, checkout, dir, paths)
	if err != nil {
		return nil, err
	}
	bundles, err := ofBundles(ctx, o, c, dir, paths)
	if err != nil {
		return nil, err
	}
	return append(append(workspaces, bundles...), start), nil
}

// ofWorkspaces measures what berth, helm and kubectl take for a workspace.
func ofWorkspaces(ctx context.Context, o options, c contest.Contest, checkout, dir string,
	paths tools.Paths,
) (sections []report.Section, err error) {
	if o.rounds == 0 {
		return nil, nil
	}
	var subject contest.Subject
	c.Say("taking the chart from what berth installs")
	err = c.Within(ctx, "subject", func(namespace string) (err error) {
		subject, err = contest.Take(ctx, checkout, dir, namespace, c.Env, paths)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, delay := range []time.Duration{0, o.delay} {
		section, err := c.Section(ctx, subject, contest.Programs(paths, subject), delay, o.rounds)
		if err != nil {
			return nil, err
		}
		sections = append(sections, section)
	}
	return sections, nil
}

// ofBundles measures what they take for many objects.
func ofBundles(ctx context.Context, o options, c contest.Contest, dir string,
	paths tools.Paths,
) (sections []report.Section, err error) {
	if o.many == 0 {
		return nil, nil
	}
	many, err := contest.NewMany(dir, o.objects)
	if err != nil {
		return nil, err
	}
	for _, delay := range []time.Duration{0, o.delay} {
		both, err := c.SectionsOfMany(ctx, paths, many, delay, o.many)
		if err != nil {
			return nil, err
		}
		sections = append(sections, both...)
	}
	return sections, nil
}

// findCheckout is the directory above this one that has the chart.
func findCheckout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "internal", "release", "chart", "k8shell-workspace",
			"Chart.yaml")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no checkout of berth in or above the working directory")
}
