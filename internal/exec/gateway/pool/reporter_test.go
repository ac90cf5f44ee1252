package pool

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/waittest"
)

// The scheduler takes the pool while it is reported, and passes it over when it is not any more.
func TestSchedulerTakesThePool(t *testing.T) {
	w := newWorld(t)
	i, r := ironcore{w}, w.reporter("a")
	i.monitors()
	if i.takes("small") {
		t.Error("a pool that nobody reports is taken")
	}
	for range 12 {
		if err := w.reports(r); err != nil {
			t.Fatal(err)
		}
		i.monitors()
		if !i.takes("small") || i.takes("none") {
			t.Fatal("a pool that is reported is not taken")
		}
		w.passes(renewEvery)
	}
	w.passes(time.Minute)
	i.monitors()
	if i.takes("small") {
		t.Error("a pool without a heartbeat is taken")
	}
	if err := w.reports(r); err != nil {
		t.Fatal(err)
	}
	i.monitors()
	if !i.takes("small") {
		t.Error("a pool that is reported again is not taken")
	}
}

// What nobody has changed is not written again, but for the lease; what somebody has, is.
func TestWrites(t *testing.T) {
	w := newWorld(t)
	r := w.reporter("a")
	renewal, status := "PUT "+leasePath, "PUT "+poolPath
	for _, step := range []struct {
		name   string
		change func(*unstructured.Unstructured)
		want   []string
	}{
		{"the first", nil, []string{"POST " + leasePath[:len(leasePath)-len("/east")], status}},
		{"the second", nil, []string{renewal}},
		{"an address of another", func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"type": "InternalIP", "address": "9.9.9.9"}},
				"status", "addresses")
		}, []string{renewal, status}},
		{"a class is taken away", func(o *unstructured.Unstructured) {
			unstructured.RemoveNestedField(o.Object, "status", "availableMachineClasses")
		}, []string{renewal, status}},
		{"what is not reported", func(o *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(o.Object, "x", "status", "other")
		}, []string{renewal}},
	} {
		if step.change != nil {
			o := w.api.Get(poolPath)
			step.change(o)
			w.api.Put(poolPath, o)
		}
		if err := w.reports(r); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		got := w.writes()
		for n := range got {
			got[n] = strings.TrimSuffix(got[n], "/status")
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %q is written, want %q", step.name, got, step.want)
		}
		now, err := r.Objects.Resource(served("machinepools")).Get(t.Context(), "east", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, differs := report().status(statusOf(now), w.now()); differs {
			t.Errorf("%s: the status is not the one that is reported", step.name)
		}
		w.writes()
		w.passes(renewEvery)
	}
}

// lease is one that another process renews, whose clock is behind.
func (w *world) lease(by string) {
	w.Helper()
	stamp, seconds := metav1.NewMicroTime(w.now().Add(-time.Hour)), int32(40)
	leases := w.typed.CoordinationV1().Leases(LeaseNamespace)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "east"}}
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &by, RenewTime: &stamp, LeaseDurationSeconds: &seconds}
	_, err := leases.Create(context.Background(), lease, metav1.CreateOptions{})
	if err != nil {
		_, err = leases.Update(context.Background(), lease, metav1.UpdateOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// A poollet that lives is left alone, whatever it reports; one that is gone is replaced.
func TestNeverAgainstAPoollet(t *testing.T) {
	w := newWorld(t)
	r := w.reporter("a")
	for range 6 {
		w.lease("poollet")
		w.writes()
		if err := w.reports(r); err != nil || len(w.writes()) > 0 || r.failed != nil {
			t.Fatalf("%v; it writes beside a poollet", err)
		}
		w.passes(renewEvery)
	}
	if said := w.log.String(); strings.Count(said, "another process holds its lease") != 1 ||
		!strings.Contains(said, "holder=poollet") || r.other != "poollet" || r.reports {
		t.Errorf("it says\n%s", said)
	}
	for range 5 {
		w.passes(renewEvery)
		if err := w.reports(r); err != nil {
			t.Fatal(err)
		}
	}
	if !r.reports || !(ironcore{w}).takes("small") {
		t.Error("a poollet that is gone is not replaced")
	}
	w.lease("poollet") // takes it by force
	w.writes()
	if err := w.reports(r); err != nil || len(w.writes()) > 0 || r.reports {
		t.Errorf("%v; it fights a poollet", err)
	}
}

// Of two gateways one reports; the other one goes on at once when that ends, and after a while when it is killed.
func TestOneOfSeveralReports(t *testing.T) {
	for name, ends := range map[string]func(*testing.T, *world, *Reporter){
		"ended": func(t *testing.T, _ *world, r *Reporter) {
			t.Helper()
			if err := r.release(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"killed": func(_ *testing.T, w *world, _ *Reporter) { w.passes(leaseFor + time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a, b := w.reporter("a"), w.reporter("b")
			for _, r := range []*Reporter{a, b} {
				if err := w.reports(r); err != nil {
					t.Fatal(err)
				}
			}
			if !a.reports || b.reports || b.other != "a" {
				t.Fatalf("a reports: %t, b: %t", a.reports, b.reports)
			}
			ends(t, w, a)
			if err := w.reports(b); err != nil || !b.reports {
				t.Errorf("%v; b reports: %t", err, b.reports)
			}
			if err := w.reports(a); err != nil || a.reports || a.other != "b" {
				t.Errorf("%v; a reports: %t", err, a.reports)
			}
		})
	}
}

// All classes that do not exist are named, and nothing is written before they do.
func TestMissingClasses(t *testing.T) {
	w := newWorld(t)
	r := w.reporter("a")
	r.Classes = append(r.Classes, Class{Name: "tiny"}, Class{Name: "huge"})
	err := w.reports(r)
	if fault.CodeOf(err) != fault.NotFound || !strings.HasSuffix(err.Error(), "do not exist: huge, tiny") ||
		len(w.writes()) > 0 || r.failed == nil {
		t.Errorf("%v", err)
	}
}

// While the API server refuses, the metrics say so as soon as the last report does not count any more.
func TestOutage(t *testing.T) {
	for _, resource := range []string{"leases", "machinepools"} {
		w := newWorld(t)
		r := w.reporter("a")
		if err := w.reports(r); err != nil {
			t.Fatal(err)
		}
		w.refusals.Set(http.StatusForbidden, func(_ int, request string) bool {
			return strings.HasSuffix(request, " "+resource)
		})
		for n, want := range []bool{true, true, true, true, false, false} {
			w.passes(renewEvery)
			if err := w.reports(r); err == nil {
				t.Fatal("nothing fails")
			}
			if r.reports != want {
				t.Errorf("%s: it reports is %t after pass %d", resource, r.reports, n)
			}
		}
		w.refusals.Set(0, nil)
		if err := w.reports(r); err != nil || r.failed != nil || !r.reports || r.failures != 6 {
			t.Errorf("%v; it does not recover", err)
		}
	}
}

// Another writer of the status does not keep it from being reported.
func TestConflicts(t *testing.T) {
	w := newWorld(t)
	r := w.reporter("a")
	conflicts := 3
	w.refusals.Set(http.StatusConflict, func(_ int, request string) bool {
		is := request == "put machinepools" || strings.HasPrefix(request, "put east")
		if is {
			conflicts--
		}
		return is && conflicts >= 0
	})
	if err := w.reports(r); err != nil || conflicts >= 0 {
		t.Errorf("%v; %d conflicts are left", err, conflicts)
	}
}

// The lease is given back at the end, and only by its holder.
func TestEnd(t *testing.T) {
	w := newWorld(t)
	r := w.reporter("a")
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	waittest.Until(t, "the pool is reported", func() bool { return r.value(func() bool { return r.reports })() == 1 })
	end()
	<-done
	renewed, _, _ := unstructured.NestedString(w.api.Get(leasePath).Object, "spec", "renewTime")
	if by, is, _ := unstructured.NestedString(w.api.Get(leasePath).Object, "spec", "holderIdentity"); is ||
		renewed == "" {
		t.Errorf("%q holds the lease", by)
	}
	w.lease("poollet")
	if err := r.release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if by, _, _ := unstructured.NestedString(w.api.Get(leasePath).Object, "spec", "holderIdentity"); by != "poollet" {
		t.Errorf("the lease of another is given back: %q", by)
	}
}
