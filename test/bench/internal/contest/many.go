package contest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/record"
	"github.com/berthdev/berth/test/bench/internal/report"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

// Many is a set of objects that nothing waits for: as a bundle of manifests, and as a
// chart that has no templates in it.
type Many struct {
	Objects       int
	Bundle, Chart string // directories
}

// kinds is what a set is made of, in turns: what operators and platforms consist of. No
// pod runs, so that the node has no part in what is measured.
func kinds() []string {
	return []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: config-%[1]d}, data: {text: %[2]s}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: secret-%[1]d}, stringData: {text: %[2]s}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: more-%[1]d}, data: {text: %[2]s}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: account-%[1]d}}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: role-%[1]d}, rules: [{apiGroups: " +
			"[''], resources: [pods], verbs: [get]}]}",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: role-%[1]d}, roleRef: " +
			"{apiGroup: rbac.authorization.k8s.io, kind: Role, name: role-%[1]d}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: others-%[1]d}, data: {text: %[2]s}}",
		"{apiVersion: v1, kind: Service, metadata: {name: service-%[1]d}, spec: {ports: [{port: 80}]}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: idle-%[1]d}, spec: {replicas: 0, selector: " +
			"{matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: " +
			"a, image: a}]}}}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: rest-%[1]d}, data: {text: %[2]s}}",
	}
}

// NewMany writes a set of objects below a directory.
func NewMany(dir string, objects int) (Many, error) {
	m := Many{Objects: objects, Bundle: filepath.Join(dir, "bundle"), Chart: filepath.Join(dir, "chart")}
	var text strings.Builder
	kinds := kinds()
	for i := range objects {
		fmt.Fprintf(&text, "---\n"+kinds[i%len(kinds)]+"\n", i, strings.Repeat("x", 400))
	}
	for path, content := range map[string]string{
		filepath.Join(m.Bundle, "manifests", "all.yaml"): text.String(),
		filepath.Join(m.Chart, "templates", "all.yaml"):  text.String(),
		filepath.Join(m.Chart, "Chart.yaml"):             "{apiVersion: v2, name: many, version: 1.0.0}\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(content), 0o600)); err != nil {
			return m, err
		}
	}
	return m, nil
}

// rival is a program that installs the set, and that installs it again although nothing
// has changed.
type rival struct {
	name             string
	install, upgrade []string
	remove           []string // what is in no namespace
}

func rivals(p tools.Paths, m Many, namespace string) []rival {
	bundle := func(verb string, args ...string) []string {
		return append([]string{
			p.Berth, "bundle", verb, namespace, "--namespace", namespace, "--system-namespace",
			namespace,
		}, args...)
	}
	helm := func(verb string) []string { return []string{p.Helm, verb, "many", m.Chart, "--namespace", namespace} }
	install := bundle("install", m.Bundle, "--no-wait")
	apply := []string{
		p.Kubectl, "apply", "--server-side", "--namespace", namespace, "--filename",
		filepath.Join(m.Bundle, "manifests"),
	}
	return []rival{
		{report.Berth, install, install, bundle("uninstall", "--yes")},
		{report.Helm, helm("install"), helm("upgrade"), nil},
		{report.Kubectl, apply, apply, nil},
	}
}

// SectionsOfMany lets the programs take turns at installing the set, and at doing so again.
func (c Contest) SectionsOfMany(ctx context.Context, p tools.Paths, m Many, delay time.Duration,
	rounds int,
) ([]report.Section, error) {
	conditions := "straight"
	if delay > 0 {
		conditions = fmt.Sprintf("%s added to a request", delay)
	}
	installed := report.Section{
		Title: fmt.Sprintf("%d objects, %s", m.Objects, conditions), Subject: report.Bundle,
		Delay: delay, Objects: m.Objects,
	}
	upgraded := report.Section{
		Title: "the same again, " + conditions, Subject: report.BundleAgain, Delay: delay,
		Objects: m.Objects,
	}
	c.Proxy.SetDelay(delay)
	defer c.Proxy.SetDelay(0)
	for round := range rounds {
		for i := range rivals(p, m, "") {
			err := c.Within(ctx, fmt.Sprintf("many-%d-%d-%d", delay.Milliseconds(), round, i),
				func(namespace string) error {
					return c.twice(ctx, rivals(p, m, namespace)[i], &installed, &upgraded)
				})
			if err != nil {
				return nil, fmt.Errorf("%s, round %d: %w", installed.Title, round+1, err)
			}
		}
		c.Say(fmt.Sprintf("%s: round %d of %d", installed.Title, round+1, rounds))
	}
	return []report.Section{installed, upgraded}, nil
}

// twice installs the set, and again. What belongs to no namespace is removed.
func (c Contest) twice(ctx context.Context, r rival, installed, upgraded *report.Section) (err error) {
	if r.remove != nil {
		defer func() {
			c.Proxy.SetDelay(0)
			_, removeErr := process.Run(context.WithoutCancel(ctx), c.Env, io.Discard, r.remove)
			c.Proxy.SetDelay(installed.Delay)
			err = errors.Join(err, removeErr)
		}()
	}
	for _, step := range []struct {
		argv    []string
		section *report.Section
	}{{r.install, installed}, {r.upgrade, upgraded}} {
		time.Sleep(rest)
		c.Proxy.Take()
		usage, err := process.Run(ctx, c.Env, io.Discard, step.argv)
		if err != nil {
			return err
		}
		step.section.Samples = append(step.section.Samples, sampleOfMany(r.name, usage, c.Proxy.Take()))
	}
	return nil
}

func sampleOfMany(program string, usage process.Usage, requests []record.Request) report.Sample {
	all := record.Begun(requests, usage.Exited)
	watches := 0
	for _, r := range all {
		if r.IsWatch() {
			watches++
		}
	}
	return report.Sample{Program: program, Values: map[report.Metric]float64{
		report.AllRequests: float64(len(all)),
		report.NoWatches:   float64(len(all) - watches),
		report.Whole:       usage.Exited.Sub(usage.Started).Seconds(),
		report.CPU:         usage.CPU.Seconds(),
		report.Memory:      float64(usage.MaxRSS) / (1 << 20),
	}}
}
