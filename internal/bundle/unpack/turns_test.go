package unpack

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
	"github.com/berthdev/berth/internal/waittest"
)

// Workers read content one after the other.
func TestContentIsReadOneAfterTheOther(t *testing.T) {
	turns := NewTurns()
	fsys := fstest.MapFS{"manifests/a.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}}
	o := format.Options{Format: format.Plain, Instance: "shop"}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	turns.parsing <- struct{}{} // another is at it
	if _, err := turns.Load(over, fsys, o); !errors.Is(err, context.Canceled) {
		t.Errorf("two are read at the same time: %v", err)
	}
	<-turns.parsing
	for range 2 {
		p, err := turns.Load(t.Context(), fsys, o)
		if err != nil || len(p.Objects) != 1 {
			t.Fatal(p, err)
		}
	}
}

func TestMain(m *testing.M) {
	kustomize.Worker(os.Exit)
	m.Run()
}

// A kustomization is built when it is its turn to be read; one that takes more time than others have is left to the
// slow worker.
func TestKustomizationsThatTakeMoreHaveATurnOfTheirOwn(t *testing.T) {
	turns := NewTurns()
	fsys := fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources: [a.yaml]\nnamePrefix: x\n")},
		"a.yaml":             {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")},
	}
	o := format.Options{Format: format.Kustomize, Instance: "shop", RenderTime: time.Minute}
	if p, err := turns.Load(reconcile.WithSlow(t.Context()), fsys, o); err != nil || len(p.Objects) != 1 {
		t.Error(p, err)
	}
	o.RenderTime = time.Nanosecond
	if _, err := turns.Load(t.Context(), fsys, o); !reconcile.IsSlowly(err) {
		t.Errorf("beside others it ends with %v", err)
	}
	_, err := turns.Load(reconcile.WithSlow(t.Context()), fsys, o)
	if reconcile.IsSlowly(err) || fault.CodeOf(err) != fault.Failed {
		t.Errorf("alone it ends with %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	turns.building <- struct{}{} // another is at it
	if _, err := turns.Load(over, fsys, o); !errors.Is(err, context.Canceled) {
		t.Errorf("it is built while another is built: %v", err)
	}
	plain := fstest.MapFS{"manifests/a.yaml": fsys["a.yaml"]}
	p, err := turns.Load(t.Context(), plain, format.Options{Format: format.Plain})
	if err != nil || len(p.Objects) != 1 {
		t.Errorf("while another is built nothing is read: %v", err)
	}
	<-turns.building
	turns.parsing <- struct{}{}
	ended := make(chan error, 1)
	o.RenderTime = time.Minute
	go func() {
		_, err := turns.Load(reconcile.WithSlow(t.Context()), fsys, o)
		ended <- err
	}()
	waittest.Until(t, "it is built", func() bool { return len(turns.slow) == 1 })
	waittest.Until(t, "it is to be read", func() bool { return len(turns.slow) == 0 })
	if len(ended) > 0 {
		t.Error("what is built is read while another is")
	}
	<-turns.parsing
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := len(turns.parsing) + len(turns.building) + len(turns.slow); n != 0 {
		t.Errorf("%d turns are held by nobody", n)
	}
}

// A chart that takes more than others is given up when it is rendered beside them, and
// rendered to its end by a slow worker.
func TestChartsThatTakeMoreHaveATurnOfTheirOwn(t *testing.T) {
	turns := NewTurns()
	for name, c := range map[string]struct {
		template string
		slowly   bool // beside others
		fails    fault.Code
	}{
		"small": {`data: {a: "{{ repeat 100 "x" }}"}`, false, ""},
		"large": {`data: {a: "{{ $x := list }}{{ range until 60 }}{{ $x = append $x (repeat 1000000 ` +
			`"x") }}{{ end }}"}`, true, ""},
		"without end":   {`{{ range 1000000000000 }}{{ end }}`, true, fault.Failed},
		"out of bounds": {`{{ repeat 1000000000 "x" }}`, false, fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"Chart.yaml": {Data: []byte("{apiVersion: v2, name: c, version: 1.0.0}")},
				"templates/a.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n" +
					"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n" + c.template)},
			}
			o := format.Options{Format: format.Helm, Instance: "shop", RenderTime: 3 * time.Second}
			_, err := turns.Load(t.Context(), fsys, o)
			if reconcile.IsSlowly(err) != c.slowly || !c.slowly && fault.CodeOf(err) != c.fails {
				t.Errorf("beside others it ends with %v", err)
			}
			_, err = turns.Load(reconcile.WithSlow(t.Context()), fsys, o)
			if reconcile.IsSlowly(err) || (err != nil) != (c.fails != "") || err != nil &&
				fault.CodeOf(err) != c.fails {
				t.Errorf("alone it ends with %v", err)
			}
		})
	}
}
