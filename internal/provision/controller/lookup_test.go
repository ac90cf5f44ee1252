package controller

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Of a workspace without pods that is on no cluster, something remains as long as it can be
// started from its record, which it is not if it is to be deleted.
func TestRemains(t *testing.T) {
	u, err := userstring.Parse("alice~plain")
	if err != nil {
		t.Fatal(err)
	}
	c := &Controller{
		Log: slog.New(slog.DiscardHandler),
		Provisioner: &provision.Provisioner{Environment: provision.Environment{Reader: inventory.Reader{
			Client: &kube.Client{
				Interface: fake.NewClientset(),
				Dynamic:   dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), Namespace: "team",
			},
			Policy: cause.DefaultPolicy(), Now: time.Now,
		}}},
	}
	for name, test := range map[string]struct {
		desired v1.DesiredState
		values  string
		want    bool
	}{
		"it can be started":        {v1.DesiredStopped, "values", true},
		"it cannot":                {v1.DesiredStopped, "", false},
		"it is to be deleted":      {v1.DesiredTerminated, "values", false},
		"and could not be started": {v1.DesiredTerminated, "", false},
	} {
		r := recordOf(u.ID(), test.desired, v1.ActualStopped)
		r.UserString, r.Values = u.String(), test.values
		if got, err := c.remains(t.Context(), r); got != test.want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}

// What was done, or could not be, is told once, and the log says why it was.
func TestDone(t *testing.T) {
	var log strings.Builder
	var told []string
	c := &Controller{
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Provisioner: &provision.Provisioner{
			Environment: provision.Environment{Reader: inventory.Reader{Now: time.Now}},
		},
		Done: func(did Action, _ time.Duration, err error) {
			told = append(told,
				fmt.Sprintf("%s: %v", did, err))
		},
	}
	k := newKnown()
	lost, fine := recordOf("lost", v1.DesiredRunning, v1.ActualUnknown),
		recordOf("fine", v1.DesiredRunning, v1.ActualRunning)
	lost.Reason, lost.UserString = "runningTime", "alice~plain"
	k.replaceRecords([]lifecycle.Record{lost, fine})
	k.seeAll([]v1.Workspace{seen("fine", v1.StageRunning)})
	k.setRemains("team.lost", false)
	for _, key := range []string{"team.lost", "team.fine"} {
		_, _ = c.one(t.Context(), k, key)
	}
	if len(told) != 1 || !strings.Contains(told[0], string(Lost)+": nothing of it is left in namespace team") {
		t.Errorf("%q", told)
	}
	for _, want := range []string{"workspace=lost", "reason=runningTime", "userString=alice~plain"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in %s", want, log.String())
		}
	}
	log.Reset()
	c.log(fine, Start, time.Second, nil)
	if strings.Contains(log.String(), "reason") {
		t.Errorf("it says a reason where nobody gave one: %s", log.String())
	}
}

// ended is a log that ends something when a line is written.
type ended struct {
	strings.Builder
	end func()
}

func (e *ended) Write(line []byte) (int, error) {
	e.end()
	return e.Builder.Write(line)
}

// The first exchange compares everything that is recorded, and says so.
func TestFirstExchange(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request,
	) { // of the records of releases
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "items": []}`))
	}))
	defer server.Close()
	client := &kube.Client{
		Interface: fake.NewClientset(), Dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()),
		Namespace: "team",
		Config:    &rest.Config{Host: server.URL}, HTTP: server.Client(),
	}
	place := lifecycle.Place{Client: client}
	stopped := recordOf("alice-1", v1.DesiredStopped, v1.ActualStopped)
	stopped.Incarnation, stopped.UserString, stopped.Values = "1", "alice~plain", "values"
	if _, err := place.Of("team").
		Change(t.Context(), stopped.ID,
			func(lifecycle.Record) (lifecycle.Record, error) { return stopped, nil }); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	log := &ended{end: end}
	c := &Controller{
		Log: slog.New(slog.NewTextHandler(log, nil)), Namespace: "team", Full: time.Hour, Partial: time.Hour,
		Limits: func(lifecycle.Record) lifecycle.Limits { return lifecycle.Limits{} },
		Provisioner: &provision.Provisioner{Environment: provision.Environment{
			States: place,
			Reader: inventory.Reader{Client: client, Policy: cause.DefaultPolicy(), Now: time.Now},
		}},
	}
	c.exchanges(ctx, newKnown(), func(string) {})
	if got := log.String(); !strings.Contains(got, "all workspaces are compared") ||
		!strings.Contains(got, "workspaces=1") {
		t.Errorf("it says: %s", got)
	}
}
