package lifecycle_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
)

// kept is where the records of a namespace are: in values of the test or in a real store.
type kept interface {
	// read reads all records, by their keys among those of all namespaces.
	read(t *testing.T) map[string]lifecycle.Record
	change(ctx context.Context, id string, decide func(lifecycle.Record) (lifecycle.Record, error)) (lifecycle.Record,
		error)
	exchange(ctx context.Context, records map[string]lifecycle.Record, report lifecycle.Report,
		at time.Time) (lifecycle.Pass, error)
}

// places are where records can be. Each namespace is empty at first.
func places(t *testing.T) map[string]func(namespace string) kept {
	t.Helper()
	in := func(p lifecycle.Place) func(string) kept {
		return func(namespace string) kept { return stored{p, namespace} }
	}
	return map[string]func(string) kept{
		"values": func(string) kept { return valued{} }, "NATS": in(inNATS(t)), "ConfigMaps": in(inConfigMaps(t)),
	}
}

// inConfigMaps is a place in an API server.
func inConfigMaps(t *testing.T) lifecycle.Place {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: kubetest.Start(t, nil).URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return lifecycle.Place{Client: &kube.Client{Interface: client}}
}

// stored are the records of a namespace in a store.
type stored struct {
	place     lifecycle.Place
	namespace string
}

func (s stored) read(t *testing.T) map[string]lifecycle.Record {
	t.Helper()
	return read(t, s.place.Of(s.namespace))
}

func (s stored) change(ctx context.Context, id string,
	decide func(lifecycle.Record) (lifecycle.Record, error),
) (lifecycle.Record, error) {
	return s.place.Of(s.namespace).Change(ctx, id, func(r lifecycle.Record) (lifecycle.Record, error) {
		r, err := decide(r)
		r.Namespace = s.namespace
		return r, err
	})
}

func (s stored) exchange(ctx context.Context, records map[string]lifecycle.Record, report lifecycle.Report,
	at time.Time,
) (lifecycle.Pass, error) {
	return s.place.Exchange(ctx, records, report, unlimited, at)
}

// valued are records of which nothing is stored, in no namespace.
type valued map[string]lifecycle.Record

func (v valued) read(*testing.T) map[string]lifecycle.Record { return maps.Clone(v) }

func (v valued) change(_ context.Context, id string,
	decide func(lifecycle.Record) (lifecycle.Record, error),
) (r lifecycle.Record, err error) {
	if r, err = decide(v[id]); err == nil {
		v[id] = r
	}
	return r, err
}

func (v valued) exchange(_ context.Context, records map[string]lifecycle.Record, report lifecycle.Report,
	at time.Time,
) (lifecycle.Pass, error) {
	changed, answer, err := lifecycle.Exchange(records, report, unlimited, lifecycle.NextMark(records, at))
	maps.Copy(v, changed)
	return lifecycle.Pass{Answer: answer, Written: changed}, err
}
