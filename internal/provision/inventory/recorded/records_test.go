package recorded_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// kept is a place with the record of alice's workspace.
func kept(t *testing.T) (lifecycle.Place, kubernetes.Interface, *kubetest.Refusals) {
	t.Helper()
	refusals := &kubetest.Refusals{}
	client, _, config := kubetest.Clients(t, kubetest.Start(t, refusals.Wrap).URL)
	place := lifecycle.Place{Client: &kube.Client{
		Interface: client, Config: config, HTTP: http.DefaultClient,
		Namespace: "team",
	}}
	if _, err := place.Of("team").Change(t.Context(), "alice-1", func(lifecycle.Record) (lifecycle.Record, error) {
		return record(v1.DesiredStopped, v1.ActualStopped), nil
	}); err != nil {
		t.Fatal(err)
	}
	return place, client, refusals
}

// damage makes all records unreadable.
func damage(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	api := client.CoreV1().ConfigMaps("team")
	list, err := api.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		list.Items[i].Data = map[string]string{"record": "{"}
		if _, err := api.Update(t.Context(), &list.Items[i], metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// For who may not read a record there is none; that it cannot be read is an error.
func TestRecordsThatCannotBeRead(t *testing.T) {
	arg, err := inventory.ParseArgument("id/alice-1")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		code      int  // of each answer; 0 for what there is
		damaged   bool // what there is
		found     bool
		err       fault.Code
		isMissing bool // in a list
	}{
		"it is there":            {found: true},
		"it may not be read":     {code: http.StatusForbidden},
		"the API server is away": {code: http.StatusInternalServerError, err: fault.Unavailable, isMissing: true},
		"it is damaged":          {damaged: true, err: fault.Conflict, isMissing: true},
	} {
		place, client, refusals := kept(t)
		if test.damaged {
			damage(t, client)
		}
		refusals.Set(test.code, func(int, string) bool { return test.code != 0 })
		got, err := recorded.Get(t.Context(), place, "team", "alice-1")
		if (got.ID != "") != test.found || (err != nil) != (test.err != "") || test.err == fault.Unavailable &&
			fault.CodeOf(err) != test.err {
			t.Errorf("%s: get %s, %v", name, got, err)
		}
		found, err := recorded.Find(t.Context(), place, "team", arg)
		if (found.ID != "") != test.found || (err != nil) != (test.err != "") || test.err == fault.Unavailable &&
			fault.CodeOf(err) != test.err {
			t.Errorf("%s: find %s, %v", name, found, err)
		}
		read := func(context.Context, inventory.Reader, fleet.Query) (*v1.WorkspaceList, error) {
			return &v1.WorkspaceList{Items: []v1.Workspace{{ID: "bob-1", Namespace: "team"}}}, nil
		}
		list, missing, err := recorded.List(t.Context(), inventory.Reader{Client: place.Client}, place,
			lifecycle.Limits{},
			fleet.Query{Namespace: "team"}, read)
		if err != nil || (len(list.Items) == 2) != test.found || len(list.Items) == 0 ||
			(len(missing) > 0) != test.isMissing {
			t.Errorf("%s: listed %+v, missing %v, %v", name, list, missing, err)
		}
	}
}

// Of a workspace that cannot be read nothing is asked in the records.
func TestListThatCannotBeRead(t *testing.T) {
	place, _, refusals := kept(t)
	refusals.Set(http.StatusOK, func(_ int, request string) bool {
		t.Errorf("it asks for %s", request)
		return false
	})
	away := errors.New("away")
	read := func(context.Context, inventory.Reader, fleet.Query) (*v1.WorkspaceList, error) { return nil, away }
	if list, missing, err := recorded.List(t.Context(), inventory.Reader{}, place, lifecycle.Limits{}, fleet.Query{},
		read); list != nil || missing != nil || !errors.Is(err, away) {
		t.Errorf("%v, %v, %v", list, missing, err)
	}
}

// What is named by a user string or an ID is found if it is that one, and no other.
func TestFind(t *testing.T) {
	for text, want := range map[string]bool{
		"id/alice-1": true, "id/bob-1": false, "alice~pod=alice-1": true,
		"bob~pod=alice-1": false, "alice~dev": false,
	} {
		place, _, _ := kept(t)
		arg, err := inventory.ParseArgument(text)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := recorded.Find(t.Context(), place, "team", arg); (r.ID != "") != want || err != nil {
			t.Errorf("%s: %s, %v", text, r, err)
		}
	}
}

// The record of a workspace that has nothing else says whose it is; a time that something is seen to
// be made stays.
func TestNamedByItsRecord(t *testing.T) {
	w := recorded.Of(record(v1.DesiredRunning, v1.ActualRunning), "team")
	if w.Owner != "alice" || w.UserString != "alice~dev" || w.Blueprint != "dev" || !w.CreatedAt.Equal(at(8)) ||
		w.Message != "pod gone; start it: berth start alice~dev --namespace team" || w.Gone != true {
		t.Errorf("%+v", w)
	}
	gone := seen(v1.StageUnknown)
	gone.CreatedAt, gone.UserString, gone.Blueprint, gone.Message = at(7), "alice~other", "other", "refused"
	w = recorded.With(gone, record(v1.DesiredRunning, v1.ActualRunning))
	if !w.CreatedAt.Equal(at(7)) || w.UserString != "alice~other" || w.Blueprint != "other" || w.Message != "refused" {
		t.Errorf("%+v", w)
	}
}
