package main

import (
	"path/filepath"
	"testing"
)

// BenchmarkRender renders the charts that -time measures, within one process: what the programs take without their
// starts. `go test -bench . -cpuprofile` says where that goes.
func BenchmarkRender(b *testing.B) {
	charts, err := made(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	both, err := newRenderers(options{release: "rel", namespace: "space", kubeVersion: defaultKubeVersion})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(both.close)
	for _, chart := range charts {
		for name, render := range map[string]func() error{
			"helm":  func() error { return second(helmRelease(b.Context(), both.options, testCase{chart: chart})) },
			"berth": func() error { return second(both.bundle(b.Context(), testCase{chart: chart})) },
		} {
			b.Run(filepath.Base(chart)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if err := render(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func second[T any](_ T, err error) error { return err }
