package provision

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// meant is what alice's workspace is recorded to be; nothing is if that is empty.
func meant(t *testing.T, s session, client *fake.Clientset, desired v1.DesiredState, values string) {
	t.Helper()
	client.PrependReactor("create", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		a.(clienttesting.CreateAction).GetObject().(*corev1.ConfigMap).
			ResourceVersion = "1" // which the fake cluster does not give
		return false, nil, nil
	})
	s.States = lifecycle.Place{Client: s.Client}
	if desired == "" {
		return
	}
	_, err := s.States.Of("dev").Change(t.Context(), id, func(lifecycle.Record) (lifecycle.Record, error) {
		r := lifecycle.Adopted(id, "1", time.Time{}, v1.ActualRunning, time.Time{})
		r.Namespace, r.UserString, r.Desired, r.Values = "dev", "alice", desired, values
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A running workspace that was meant to stop keeps running: provisioning it sets its desired state to
// Running. This does not hold for one that is being deleted, or that was stopped in the meantime.
func TestStay(t *testing.T) {
	running := watchtest.NewPod(id, "old", watchtest.OnNode, watchtest.AppReady).Pod
	running.Namespace, running.Labels = "dev", map[string]string{kube.LabelCanonicalID: id}
	for name, test := range map[string]struct {
		desired v1.DesiredState
		runs    bool
		code    fault.Code
		becomes v1.DesiredState
	}{
		"nothing is recorded":      {"", true, "", ""},
		"it is meant to run":       {v1.DesiredRunning, true, "", v1.DesiredRunning},
		"it is meant to stop":      {v1.DesiredStopped, true, "", v1.DesiredRunning},
		"it is being deleted":      {v1.DesiredTerminated, true, fault.Conflict, v1.DesiredTerminated},
		"it was stopped meanwhile": {v1.DesiredStopped, false, fault.Conflict, v1.DesiredStopped},
	} {
		t.Run(name, func(t *testing.T) {
			s, client, dec := runOn(t)
			if test.runs {
				s, client, dec = runOn(t, running)
			}
			record := release.NewRecord(id, "dev", dec.deployment.Chart, time.Now())
			release.Deployed(record, time.Now())
			if err := s.Records().Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			meant(t, s, client, test.desired, "")
			if err := s.stay(t.Context()); fault.CodeOf(err) != test.code {
				t.Errorf("%v, want %q", err, test.code)
			}
			r, err := s.state().Read(t.Context())
			if err != nil || r.Desired != test.becomes {
				t.Errorf("it is meant to be %q, want %q: %v", r.Desired, test.becomes, err)
			}
		})
	}
}

// A workspace without objects in the cluster exists as long as it has a record, unless the record only says
// that it is to be deleted.
func TestExists(t *testing.T) {
	for desired, want := range map[v1.DesiredState]bool{
		"": false, v1.DesiredStopped: true, v1.DesiredRunning: true,
		v1.DesiredTerminated: false,
	} {
		s, client, dec := runOn(t)
		meant(t, s, client, desired, "")
		if got, err := s.state().Exists(t.Context(), dec.found); got != want || err != nil {
			t.Errorf("%q: %t, %v", desired, got, err)
		}
	}
}

// A stopped workspace is restored as it was recorded; any other is made as its blueprint says.
func TestRestoreStopped(t *testing.T) {
	const unreadable = "not what it was made of"
	for desired, asItWas := range map[v1.DesiredState]bool{
		"": false, v1.DesiredRunning: false, v1.DesiredTerminated: false, v1.DesiredStopped: true,
		v1.DesiredRestart: true,
	} {
		s, client, dec := runOn(t)
		dec.plan = deploy.Install
		meant(t, s, client, desired, unreadable)
		if _, err := s.restoreStopped(t.Context(), dec); (err != nil) != asItWas {
			t.Errorf("%q: %v", desired, err)
		}
	}
}

// The record of a deleted workspace is deleted, even if a loop wrote to it in the meantime, but not if it is
// that of a newer workspace or a newer change.
func TestUnrecord(t *testing.T) {
	dir := modelDir(t)
	for name, c := range map[string]struct {
		meanwhile func(*lifecycle.Record)
		kept      bool
	}{
		"nothing":             {func(*lifecycle.Record) {}, false},
		"a loop reports":      {func(r *lifecycle.Record) { r.Actual = v1.ActualFailed }, false},
		"it is meant to stop": {func(r *lifecycle.Record) { r.Desired = v1.DesiredStopped }, true},
		"it is there again":   {func(r *lifecycle.Record) { r.Incarnation = "2" }, true},
		"there again, and is to stop": {
			func(r *lifecycle.Record) { r.Incarnation, r.Desired = "2", v1.DesiredStopped },
			true,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcess(newModel(time.Millisecond)).provisioner(t, dir)
			p.States = lifecycle.Place{Client: p.Client}
			gone, err := p.States.Of(p.Client.Namespace).
				Change(t.Context(), id, func(lifecycle.Record) (lifecycle.Record, error) {
					return lifecycle.New(id, "1", time.Now()), nil
				})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.States.Of(p.Client.Namespace).
				Change(t.Context(), id, func(r lifecycle.Record) (lifecycle.Record, error) {
					c.meanwhile(&r)
					return r, nil
				}); err != nil {
				t.Fatal(err)
			}
			p.State("", id, userstring.Workload{}).Forget(t.Context(), gone)
			if r, err := p.States.Of(p.Client.Namespace).Get(t.Context(), id); err != nil || (r.ID != "") != c.kept {
				t.Errorf("%s: there is %+v, %v", name, r, err)
			}
		})
	}
}

// An intent is carried out only while it is the newest: a later change supersedes it.
func TestOrdered(t *testing.T) {
	s, client, _ := runOn(t)
	meant(t, s, client, v1.DesiredStopped, "")
	r, err := s.state().Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest := desired.IntentOf(r, true)
	older, another := newest, newest
	older.Changed, another.Incarnation = newest.Changed-1, "2"
	for name, test := range map[string]struct {
		order      desired.Intent
		superseded bool
	}{"the newest": {newest, false}, "an older one": {older, true}, "of one that was deleted": {another, true}} {
		s.Intent = &test.order
		if _, err := s.state().Set(t.Context(), nil, "",
			inventory.Found{}); desired.IsSuperseded(err) != test.superseded ||
			(err != nil) != test.superseded {
			t.Errorf("%s: %v", name, err)
		}
	}
}
