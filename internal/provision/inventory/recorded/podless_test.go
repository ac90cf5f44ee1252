package recorded_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// cluster is a namespace without pods.
type cluster struct {
	*testing.T
	recorded.Podless
	requests *kubetest.Refusals
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	refusals := &kubetest.Refusals{}
	typed, _, config := kubetest.Clients(t, kubetest.Start(t, refusals.Wrap).URL)
	client := &kube.Client{Interface: typed, Config: config, HTTP: http.DefaultClient, Namespace: "team"}
	return &cluster{T: t, requests: refusals, Podless: recorded.Podless{
		Reader: inventory.Reader{Client: client, Now: time.Now}, Place: lifecycle.Place{Client: client},
		Query: fleet.Query{Namespace: "team"},
	}}
}

func (c *cluster) user(text string) userstring.UserString {
	c.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		c.Fatal(err)
	}
	return u
}

// marks are the labels and annotations of what belongs to the workspace of a user string.
func (c *cluster) marks(text string) metav1.ObjectMeta {
	u := c.user(text)
	return metav1.ObjectMeta{
		Labels: map[string]string{
			kube.LabelCanonicalID: u.ID(), kube.LabelUsername: u.User, kube.LabelBlueprint: u.BlueprintName(),
		},
		Annotations: map[string]string{
			kube.AnnotationUserString: base64.StdEncoding.EncodeToString([]byte(u.String())),
		},
	}
}

// install writes Helm's record of a workspace, under the ID of another one if that is given.
func (c *cluster) install(text, as string, refused bool) {
	c.Helper()
	meta, id := c.marks(text), c.user(text).ID()
	if as != "" {
		id = c.user(as).ID()
	}
	manifest := fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n"+
		"  labels: {%s: %s, %s: %s, %s: %s}\n  annotations: {%s: %s}\n", id,
		kube.LabelCanonicalID, id, kube.LabelUsername, meta.Labels[kube.LabelUsername], kube.LabelBlueprint,
		meta.Labels[kube.LabelBlueprint],
		kube.AnnotationUserString, meta.Annotations[kube.AnnotationUserString])
	record := release.NewRecord(id, "team", &release.Rendered{Manifest: manifest}, at(8))
	release.Deployed(record, at(8))
	if refused {
		release.Refused(record, "pod/"+id, `pods "`+id+
			`" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0`)
	}
	if err := c.Reader.Records().Create(c.Context(), record); err != nil {
		c.Fatal(err)
	}
}

// claim makes a claim of a workspace.
func (c *cluster) claim(text string, kept bool) {
	c.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: c.marks(text)}
	claim.Name = "pvc-" + c.user(text).ID() + "-home"
	if claim.Annotations = nil; kept { // as a claim gets one that says for whom
		claim.Labels[kube.LabelKept], claim.Annotations = "true", c.marks(text).Annotations
	}
	if _, err := c.Reader.Client.CoreV1().PersistentVolumeClaims("team").
		Create(c.Context(), claim, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// state records the desired state of a workspace.
func (c *cluster) state(text string, desired v1.DesiredState) {
	c.Helper()
	r := record(desired, v1.ActualRunning)
	r.ID, r.UserString = c.user(text).ID(), text
	if _, err := c.Place.Of("team").
		Change(c.Context(), r.ID, func(lifecycle.Record) (lifecycle.Record, error) { return r, nil }); err != nil {
		c.Fatal(err)
	}
}

// described is what a list says of workspaces.
func described(all []v1.Workspace) (lines []string) {
	for _, w := range all {
		line := w.UserString + " " + string(w.Stage)
		if w.Startable {
			line += " startable"
		}
		lines = append(lines, line+": "+w.Message)
	}
	slices.Sort(lines)
	return lines
}

// Everything that has a release, a state or a claim is listed without its pod, under its owner,
// with what brings it back. What may not be read is left out, without an error.
func TestPodless(t *testing.T) {
	const (
		gone    = "alice~gone Unknown startable: pod gone; start it: berth start alice~gone --namespace team"
		running = "alice~running Unknown startable: pod gone; start it: berth start alice~running --namespace team"
		stopped = "alice~stopped Stopped startable: "
		refused = "bob~refused Failed startable: "
		left    = "bob~left Unknown: only its storage is left; use it again: berth provision bob~left --namespace team"
		kept    = "bob~kept Unknown: deleted, its storage is kept; use it again: berth provision bob~kept " +
			"--namespace team"
		unseen   = "bob~left Unknown: it has no pod, and you may not see whether it is installed"
		unseenBy = "alice~gone Unknown: it has no pod, and you may not see whether it is installed"
	)
	for name, test := range map[string]struct {
		query  fleet.Query
		denied string // the requests that are forbidden
		seen   []string
		want   []string
	}{
		"all": {fleet.Query{}, "", nil, []string{gone, running, stopped, left, refused}},
		"kept storage as well": {
			fleet.Query{Kept: true},
			"", nil,
			[]string{gone, running, stopped, kept, left, refused},
		},
		"of an owner": {
			fleet.Query{Owners: []string{"bob"}, Kept: true},
			"", nil,
			[]string{kept, left, refused},
		},
		"what is installed":  {fleet.Query{Installed: true}, "", nil, []string{gone, running, stopped, refused}},
		"of a blueprint":     {fleet.Query{Blueprints: []string{"gone"}}, "", nil, []string{gone}},
		"in a stage":         {fleet.Query{Stages: []v1.Stage{v1.StageFailed}}, "", nil, []string{refused}},
		"by labels of a pod": {fleet.Query{Labels: "a=b"}, "", nil, nil},
		"one has a pod": {
			fleet.Query{},
			"",
			[]string{"alice~gone"},
			[]string{"alice~gone Running: ", running, stopped, left, refused},
		},
		"Secrets may not be listed": {fleet.Query{}, "list secrets", nil, []string{running, stopped, unseenBy, unseen}},
		"claims may not be listed": {
			fleet.Query{},
			"list persistentvolumeclaims", nil,
			[]string{gone, running, stopped, refused},
		},
		"states may not be listed": {fleet.Query{Owners: []string{"alice"}}, "list configmaps", nil, []string{gone}},
		"nothing may be listed":    {fleet.Query{}, "list ", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.install("alice~gone", "", false)
			c.claim("alice~gone", false)
			c.install("bob~refused", "", true)
			c.install("bob~lies", "carol~dev", false)
			c.claim("bob~left", false)
			c.claim("bob~kept", true)
			c.state("alice~running", v1.DesiredRunning)
			c.state("alice~stopped", v1.DesiredStopped)
			c.Query = test.query
			c.Query.Namespace = "team"
			c.requests.Set(http.StatusForbidden, func(_ int, request string) bool {
				return test.denied != "" && strings.HasPrefix(request, test.denied)
			})
			var seen []v1.Workspace
			for _, text := range test.seen {
				w := v1.Workspace{ID: c.user(text).ID(), Namespace: "team", UserString: text}
				w.Stage = v1.StageRunning
				seen = append(seen, w)
			}
			all, missing := c.Add(t.Context(), seen)
			for i := range all {
				if c := all[i].Cause; c != nil {
					if all[i].Message = ""; c.Code != "QuotaExceeded" {
						t.Errorf("%+v", c)
					}
				}
			}
			slices.Sort(test.want)
			if got := described(all); !slices.Equal(got, test.want) || len(missing) > 0 {
				t.Errorf("there are\n%s\nmissing %v, want\n%s", strings.Join(got, "\n"), missing,
					strings.Join(test.want, "\n"))
			}
		})
	}
}

// However many workspaces have no pod, each kind is listed once, and the records of those that
// nothing else is known of are read 50 at a time.
func TestRequestsOfPodless(t *testing.T) {
	c := newCluster(t)
	const many = 120
	for i := range many {
		c.install(fmt.Sprintf("alice~dev%d", i), "", false)
		c.claim(fmt.Sprintf("alice~dev%d", i), false)
	}
	asked := map[string]int{}
	c.requests.Set(http.StatusForbidden, func(_ int, request string) bool {
		asked[request]++
		return false
	})
	all, missing := c.Add(t.Context(), nil)
	if len(all) != many || len(missing) > 0 || asked["list configmaps"] != 1 ||
		asked["list persistentvolumeclaims"] != 1 || asked["list secrets"] != 1+3 || len(asked) > 3 {
		t.Errorf("%d, missing %v, after %v", len(all), missing, asked)
	}
}

// A workspace that is watched and stopped becomes Stopped; one that is deleted is gone. One whose
// pod alone is gone says so.
func TestInsteadOfGone(t *testing.T) {
	for name, test := range map[string]struct {
		desired   v1.DesiredState // empty for no record
		installed bool
		gone      bool
		want      v1.Stage
		isGone    bool
		startable bool
	}{
		"stopped": {
			desired: v1.DesiredStopped, gone: true, want: v1.StageStopped,
			startable: true,
		},
		"still there": {desired: v1.DesiredStopped, want: v1.StageTerminating},
		"deleted": {
			desired: v1.DesiredTerminated, gone: true, want: v1.StageUnknown,
			isGone: true,
		},
		"its pod was removed": {
			desired: v1.DesiredRunning, gone: true, want: v1.StageUnknown,
			isGone: true, startable: true,
		},
		"nothing was recorded": {gone: true, want: v1.StageUnknown, isGone: true},
		"it is installed, nothing is recorded": {
			installed: true, gone: true, want: v1.StageUnknown, isGone: true,
			startable: true,
		},
		"it is about to return": {desired: v1.DesiredRestart, gone: true, want: v1.StageUnknown, isGone: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if test.desired != "" {
				c.state("alice~dev", test.desired)
			}
			if test.installed {
				c.install("alice~dev", "", false)
			}
			w := seen(v1.StageTerminating)
			w.ID = c.user("alice~dev").ID()
			if test.gone {
				w.Snapshot = v1.Snapshot{
					Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true,
					Message: "deleted",
				}
			}
			got := c.InsteadOfGone(t.Context(), []v1.Workspace{w})[0]
			if got.Stage != test.want || got.Gone != test.isGone || got.Startable != test.startable || got.ID != w.ID {
				t.Errorf("%+v", got)
			}
			if said := strings.HasPrefix(got.Message, "pod gone; "); said != (test.isGone && test.startable) {
				t.Errorf("it says %q", got.Message)
			}
		})
	}
}

// However many pods go together, and whatever else is installed, Helm's records of these are read
// in one request, and once more when those that are being deleted have had their time.
func TestRequestsForWhatGoesTogether(t *testing.T) {
	c := newCluster(t)
	const many = 20
	gone := make([]v1.Workspace, many)
	for i := range many {
		text := fmt.Sprintf("alice~dev%d", i)
		c.install(text, "", false)
		c.install("bob"+strings.TrimPrefix(text, "alice"), "", false)
		gone[i] = v1.Workspace{
			Namespace: "team", ID: c.user(text).ID(),
			Snapshot: v1.Snapshot{Stage: v1.StageUnknown, Gone: true},
		}
	}
	asked := 0
	c.requests.Set(http.StatusForbidden, func(_ int, request string) bool {
		if request == "list secrets" {
			asked++
		}
		return false
	})
	for i, w := range c.InsteadOfGone(t.Context(), slices.Clone(gone)) {
		if !w.Startable || w.ID != gone[i].ID {
			t.Errorf("%+v", w)
		}
	}
	if asked != 2 {
		t.Errorf("%d requests", asked)
	}
}

// For a limit, what is recorded has to be known; what the caller may not list otherwise is not
// counted. What is deleted counts no more, here and in lists.
func TestCount(t *testing.T) {
	for name, test := range map[string]struct {
		denied string
		want   int
		fails  bool
	}{
		"everything may be read":         {want: 3},
		"the records may not be listed":  {denied: "list configmaps", fails: true},
		"the claims may not be listed":   {denied: "list persistentvolumeclaims", want: 2},
		"the releases may not be listed": {denied: "list secrets", want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Query.Kept = true
			c.install("alice~installed", "", false)
			c.claim("alice~kept", true)
			c.state("alice~stopped", v1.DesiredStopped)
			r := record(v1.DesiredTerminated, v1.ActualTerminated)
			r.ID, r.UserString = c.user("alice~deleted").ID(), "alice~deleted"
			if _, err := c.Place.Of("team").
				Change(t.Context(), r.ID, func(lifecycle.Record) (lifecycle.Record, error) {
					return r,
						nil
				}); err != nil {
				t.Fatal(err)
			}
			c.requests.Set(http.StatusForbidden, func(_ int, request string) bool { return request == test.denied })
			all, err := c.Count(t.Context())
			if (err != nil) != test.fails || len(all) != test.want {
				t.Errorf("%q, %v", described(all), err)
			}
			listed, missing := c.Add(t.Context(), nil)
			if len(missing) > 0 || slices.ContainsFunc(listed,
				func(w v1.Workspace) bool { return w.UserString == "alice~deleted" }) {
				t.Errorf("%q, missing %v", described(listed), missing)
			}
		})
	}
}
