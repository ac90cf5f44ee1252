package rollout

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/watch/cause"
)

// cluster is a server that has what was around a workload.
type cluster struct {
	*kubetest.Server
	kubetest.Refusals
	requests atomic.Int64
	Looker
}

func newCluster(t *testing.T, around []runtime.Object, at time.Time) *cluster {
	t.Helper()
	c := &cluster{}
	c.Server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return c.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.requests.Add(1)
			next.ServeHTTP(w, r)
		}))
	})
	client, _, _ := kubetest.Clients(t, c.URL)
	c.Looker = Looker{Client: client, Policy: cause.DefaultPolicy(), Now: func() time.Time { return at }}
	for _, o := range around {
		c.has(t, o)
	}
	return c
}

// has puts an object there as it was, with its UID.
func (c *cluster) has(t *testing.T, o runtime.Object) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	path := "/apis/" + object.GetAPIVersion()
	if resource.Group == "" {
		path = "/api/v1"
	}
	path += "/namespaces/" + object.GetNamespace() + "/" + resource.Resource + "/" + object.GetName()
	c.Put(path, object)
}

// What is around workloads that are not as they should be is listed, one list for each kind; of
// others nothing is.
func TestLook(t *testing.T) {
	r, around, at := scene(t, "image")
	c := newCluster(t, around, at)
	other := r
	other.Object = r.Object.DeepCopy()
	other.Object.SetName("other")
	other.Object.SetUID("other")
	well := health.Reading{Object: other.Object, State: health.Current}
	if _, unseen := c.Look(t.Context(), []health.Reading{well}); c.requests.Load() != 0 || len(unseen) > 0 {
		t.Errorf("%d requests, %q", c.requests.Load(), unseen)
	}
	got, unseen := c.Look(t.Context(), []health.Reading{other, r})
	if got[0].Cause != nil || got[1].Cause == nil || got[1].State != health.Failed ||
		got[1].Cause.Code != cause.ImageNotFound || len(unseen) > 0 {
		t.Errorf("%+v, %q", got, unseen)
	}
	if n := c.requests.Load(); n != 3 {
		t.Errorf("%d requests for pods, ReplicaSets and events", n)
	}
}

// A caller who may not read pods is told so, and the reading stays as it was; without the rest a cause is
// found all the same.
func TestLookIsRefused(t *testing.T) {
	r, around, at := scene(t, "image")
	c := newCluster(t, around, at)
	for request, code := range map[string]string{
		"list pods": "", "list events": cause.ImageNotFound,
		"list replicasets": cause.ImageNotFound,
	} {
		c.Set(http.StatusForbidden, func(_ int, r string) bool { return r == request })
		got, unseen := c.Look(t.Context(), []health.Reading{r})
		found := ""
		if got[0].Cause != nil {
			found = got[0].Cause.Code
		}
		if found != code || code == "" && got[0].Message != r.Message || len(unseen) != 1 ||
			!strings.Contains(unseen[0], request) {
			t.Errorf("without %s: %+v, %q", request, got[0], unseen)
		}
	}
}

// until waits until a follower reads as it should.
func until(t *testing.T, f *Follower, r health.Reading, is func(health.Reading) bool) {
	t.Helper()
	for {
		changed := f.Changed()
		got, _ := f.Inspect(r)
		if is(got) {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("it stays %+v", got)
		}
	}
}

// A follower asks for nothing until it is opened, for nothing twice, and knows what becomes of pods.
func TestFollow(t *testing.T) {
	r, around, at := scene(t, "image")
	c := newCluster(t, nil, at)
	f := c.Follow(func(text string) { t.Error(text) })
	defer f.Close()
	if got, _ := f.Inspect(r); got.Cause != nil || c.requests.Load() != 0 {
		t.Errorf("%+v after %d requests", got, c.requests.Load())
	}
	for range 2 {
		f.Open(t.Context(), []health.Reading{r})
	}
	until(t, f, r, func(health.Reading) bool { return c.requests.Load() == 3 })
	for _, o := range around {
		c.has(t, o)
	}
	until(t, f, r, func(got health.Reading) bool {
		return got.State == health.Failed && got.Cause != nil && got.Cause.Code == cause.ImageNotFound
	})
	if n := c.requests.Load(); n != 3 {
		t.Errorf("%d requests", n)
	}
}

// Without permission the readings stay as they are, and that is said once.
func TestFollowIsRefused(t *testing.T) {
	r, around, at := scene(t, "image")
	c := newCluster(t, around, at)
	c.Set(http.StatusForbidden, func(_ int, r string) bool { return r != "watch events" })
	notes := make(chan string, 10)
	f := c.Follow(func(text string) { notes <- text })
	f.Open(t.Context(), []health.Reading{r})
	note := <-notes
	until(t, f, r, func(got health.Reading) bool { return got.Cause == nil && got.Message == r.Message })
	f.Close()
	if !strings.Contains(note, "not seen in full") || len(notes) > 0 {
		t.Errorf("%q, and %d more", note, len(notes))
	}
}

// How long is waited for what will not pass does not depend on whether the clocks of this machine
// and of the cluster agree.
func TestClocksThatDiffer(t *testing.T) {
	for name, off := range map[string]time.Duration{
		"as the cluster's": 0, "minutes behind it": -10 * time.Minute,
		"minutes ahead of it": 10 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			r, around, at := scene(t, "claim")
			c := newCluster(t, around, at)
			now := at.Add(off)
			c.Now = func() time.Time { return now }
			c.Policy = c.Policy.Waiting(now)
			c.Policy.StuckDelay, c.Policy.StuckAfter = time.Second, 5*time.Second
			f := c.Follow(func(text string) { t.Error(text) })
			defer f.Close()
			f.Open(t.Context(), []health.Reading{r})
			until(t, f, r, func(got health.Reading) bool { return got.Cause != nil && got.State == health.InProgress })
			now = now.Add(4 * time.Second)
			if got, next := f.Inspect(r); got.State != health.InProgress || next.IsZero() ||
				next.Sub(now) > time.Second {
				t.Errorf("after 4 seconds: %+v, and again in %s", got, next.Sub(now))
			}
			now = now.Add(time.Second)
			if got, _ := f.Inspect(r); got.State != health.Failed {
				t.Errorf("after 5 seconds: %+v", got)
			}
		})
	}
}
