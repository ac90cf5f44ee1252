package instance

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// What the cache has is sent without anything being unpacked for it. What it does not have is
// fetched.
func TestArchives(t *testing.T) {
	r, digests := withCache(t, "one")
	b := NewBackend(r)
	kept := &v1alpha1.Bundle{Status: v1alpha1.BundleStatus{Digest: digests[0]}}
	fetched := &v1alpha1.Bundle{}
	fetched.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.SourceHTTP,
		HTTP: &v1alpha1.HTTPSource{URL: "https://a.invalid/a.tgz", Digest: digests[0]},
	}
	for _, bundle := range []*v1alpha1.Bundle{kept, kept, fetched} {
		archive, digest, err := b.archive(t.Context(), bundle)
		if err != nil || digest != digests[0] {
			t.Fatal(digest, err)
		}
		if text, err := io.ReadAll(archive); err != nil || len(text) == 0 || archive.Close() != nil {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
	changed := *fetched
	changed.Status.Digest = "sha256:other"
	if _, _, err := b.archive(t.Context(), &changed); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("other content is sent: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	slow := *fetched
	slow.Spec.Source.HTTP = &v1alpha1.HTTPSource{URL: "https://a.invalid/a.tgz"}
	if _, _, err := b.archive(over, &slow); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, f := range b.fetches.bundles { // it outlives its caller, and writes to the cache of this test
		f.cancel(gone())
		<-f.done
	}
}

// Workers read content one after the other.
func TestContentIsReadOneAfterTheOther(t *testing.T) {
	r, _ := withCache(t)
	b := NewBackend(r)
	c := sealed(t, r, "manifests/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	defer c.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	b.turns.parsing <- struct{}{} // another is at it
	if _, err := b.read(over, c, "shop", v1alpha1.ClassPlain, v1alpha1.Config{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("two are read at the same time: %v", err)
	}
	<-b.turns.parsing
	for range 2 {
		p, err := b.read(t.Context(), c, "shop", v1alpha1.ClassPlain, v1alpha1.Config{}, nil)
		if err != nil || len(p.Objects) != 1 {
			t.Fatal(p, err)
		}
	}
}

// A chart that takes more than others is given up when it is rendered beside them, and
// rendered to its end by a slow worker.
func TestChartsThatTakeMoreHaveATurnOfTheirOwn(t *testing.T) {
	r, _ := withCache(t)
	r.turns, r.RenderTime = newTurns(), 3*time.Second
	for name, c := range map[string]struct {
		template string
		slowly   bool // beside others
		fails    fault.Code
	}{
		"small":         {`data: {a: "{{ repeat 100 "x" }}"}`, false, ""},
		"large":         {`data: {a: "{{ $x := list }}{{ range until 60 }}{{ $x = append $x (repeat 1000000 "x") }}{{ end }}"}`, true, ""},
		"without end":   {`{{ range 1000000000000 }}{{ end }}`, true, fault.Failed},
		"out of bounds": {`{{ repeat 1000000000 "x" }}`, false, fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"Chart.yaml":       {Data: []byte("{apiVersion: v2, name: c, version: 1.0.0}")},
				"templates/a.yaml": {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n" + c.template)},
			}
			o := format.Options{Format: format.Helm, Instance: "shop", RenderTime: r.RenderTime}
			_, err := r.turns.load(t.Context(), fsys, o)
			if reconcile.IsSlowly(err) != c.slowly || !c.slowly && fault.CodeOf(err) != c.fails {
				t.Errorf("beside others it ends with %v", err)
			}
			_, err = r.turns.load(reconcile.WithSlow(t.Context()), fsys, o)
			if reconcile.IsSlowly(err) || (err != nil) != (c.fails != "") || err != nil && fault.CodeOf(err) != c.fails {
				t.Errorf("alone it ends with %v", err)
			}
		})
	}
}
