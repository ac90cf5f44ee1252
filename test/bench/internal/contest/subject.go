// Package contest lets berth, helm and kubectl install the same chart and
// measures how they do it.
package contest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/test/bench/internal/process"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

const userString = "bench~bench"

// Subject is what is installed: the chart with the values that berth gave it,
// and the manifest that came out.
type Subject struct {
	Release          string
	Pod              string
	Objects          int
	Chart            string // directory
	Values, Manifest string // files
	Blueprints       string // directory
}

// Take lets berth provision once in an empty namespace and asks helm for what
// it recorded, so that all install the same. It also brings the image to the
// node. It fills no caches for the measured runs: only berth runs here, and it
// has none.
func Take(ctx context.Context, checkout, dir, namespace string, env []string, p tools.Paths) (Subject, error) {
	s := Subject{
		Chart:      filepath.Join(checkout, "internal", "release", "chart", "k8shell-workspace"),
		Blueprints: filepath.Join(checkout, "test", "bench", "blueprints"),
		Values:     filepath.Join(dir, "values.yaml"), Manifest: filepath.Join(dir, "manifest.yaml"),
	}
	if _, err := process.Output(ctx, env, berth(p, s, namespace)...); err != nil {
		return s, err
	}
	names, err := process.Output(ctx, env, p.Helm, "list", "--short", "--namespace", namespace)
	if err != nil {
		return s, err
	}
	s.Release = strings.TrimSpace(names)
	values, err := process.Output(ctx, env, p.Helm, "get", "values", s.Release, "--namespace", namespace, "--output",
		"yaml")
	if err != nil {
		return s, err
	}
	manifest, err := process.Output(ctx, env, p.Helm, "get", "manifest", s.Release, "--namespace", namespace)
	if err != nil {
		return s, err
	}
	if s.Objects, s.Pod, err = read(manifest); err != nil {
		return s, err
	}
	if values, err = ofChart(values); err != nil {
		return s, err
	}
	return s, errors.Join(os.WriteFile(s.Values, []byte(values), 0o600),
		os.WriteFile(s.Manifest, []byte(manifest), 0o600))
}

// ofChart are the values that the chart was rendered with: the record has them below the key berth, beside those that
// k8shell reads (docs/k8shell.md).
func ofChart(recorded string) (string, error) {
	var values struct {
		Berth map[string]any `json:"berth"`
	}
	if err := yaml.Unmarshal([]byte(recorded), &values); err != nil {
		return "", fmt.Errorf("values: %w", err)
	}
	if values.Berth == nil {
		return "", errors.New("values: the record has none of the chart, below the key berth")
	}
	chart, err := yaml.Marshal(values.Berth)
	return string(chart), err
}

// read counts the objects of a manifest and finds the pod.
func read(manifest string) (objects int, pod string, err error) {
	for document := range strings.SplitSeq("\n"+manifest, "\n---") {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return 0, "", fmt.Errorf("manifest: %w", err)
		}
		if object.Kind == "" {
			continue
		}
		objects++
		if object.Kind == "Pod" {
			pod = object.Metadata.Name
		}
	}
	if pod == "" {
		return 0, "", errors.New("manifest: no pod in it")
	}
	return objects, pod, nil
}
