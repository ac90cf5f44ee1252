package fleet

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	testclient "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// cached is a cache in sync, its pods and its events.
func cached(t *testing.T, q Query, now *time.Time, pods ...runtime.Object) (c *workspaceCache, in map[string]*input) {
	t.Helper()
	reader := inventory.Reader{
		Client: &kube.Client{Interface: fake.NewClientset(), Namespace: "dev"},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return *now },
	}
	c, in = newCache(reader, q), map[string]*input{}
	c.start = func(i *input) { in[i.source.Resource] = i }
	c.startAll(c.sources(""))
	in["events"].Replace(nil, "1")
	select {
	case <-c.synced:
		t.Fatal("it is in sync without the pods")
	default:
	}
	in["pods"].Replace(pods, "1")
	<-c.synced
	return c, in
}

func named(name string, changes ...func(*corev1.Pod)) watchtest.MadePod {
	pod := watchtest.NewPod(name, types.UID(name), changes...)
	pod.Labels = map[string]string{kube.LabelCanonicalID: name}
	return pod
}

func stagesOf(ws []v1.Workspace) (stages []string) {
	for _, w := range ws {
		text := w.ID + " " + string(w.Stage)
		if w.Gone {
			text += " gone"
		}
		stages = append(stages, text)
	}
	return stages
}

// Each change is reported exactly once.
func TestCacheReportsChanges(t *testing.T) {
	now := watchtest.Epoch
	c, in := cached(t, Query{Namespace: "dev"}, &now, named("alice-1").Pod)
	if got := stagesOf(c.open(now)); !slices.Equal(got, []string{"alice-1 Scheduling"}) {
		t.Fatalf("at first %q", got)
	}
	in["pods"].Apply(apiwatch.Modified, named("alice-1", watchtest.OnNode).Version(2).Pod)
	in["pods"].Apply(apiwatch.Modified, named("alice-1", watchtest.OnNode).Version(3).Pod)
	in["pods"].Apply(apiwatch.Modified, named("alice-1", watchtest.OnNode, watchtest.AppReady).Version(4).Pod)
	if got := stagesOf(c.take(now)); !slices.Equal(got, []string{"alice-1 Starting", "alice-1 Running"}) {
		t.Errorf("%q", got)
	}
	in["pods"].Replace(nil, "5")
	if got := stagesOf(c.take(now)); !slices.Equal(got, []string{"alice-1 Unknown gone"}) {
		t.Errorf("after a list without it: %q", got)
	}
	if got := c.take(now); len(got) > 0 {
		t.Errorf("nothing has changed, but %q", stagesOf(got))
	}
}

// The events of a workspace are read if they are asked for.
func TestCacheWithEvents(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		now := watchtest.Epoch
		pod := named("alice-1", watchtest.OnNode)
		c, in := cached(t, Query{Namespace: "dev", Events: wanted}, &now, pod.Pod)
		in["events"].Apply(apiwatch.Added, watchtest.Event("alice-1", pod.UID, "app", "Pulled", "").Version(2).Event)
		if got := c.open(now); len(got) != 1 || (len(got[0].Events) == 1) != wanted {
			t.Errorf("wanted %t: %+v", wanted, got)
		}
	}
}

// What changes only with time is read again at that time.
func TestCacheReadsAgainWhenItIsDue(t *testing.T) {
	now := watchtest.Epoch
	pod := named("alice-1", watchtest.OnNode)
	c, in := cached(t, Query{Namespace: "dev"}, &now, pod.Pod)
	c.open(now)
	in["events"].Apply(apiwatch.Added, watchtest.Event("alice-1", pod.UID, "app", "Pulling", "").Version(2).Event)
	if wait := c.patience(now); wait != 8*time.Second {
		t.Fatalf("due in %s", wait)
	}
	now = now.Add(8 * time.Second)
	if got := stagesOf(c.take(now)); !slices.Equal(got,
		[]string{"alice-1 Starting", "alice-1 Pulling"}) { // Starting, for a pull
		t.Errorf("%q", got)
	}
}

// An object that no longer matches is reported one last time; one that never did is not.
func TestCacheFollowsTheQuery(t *testing.T) {
	now := watchtest.Epoch
	c, in := cached(t, Query{Namespace: "dev", Stages: []v1.Stage{v1.StageStarting}}, &now, named("alice-1").Pod)
	if got := c.open(now); len(got) > 0 {
		t.Errorf("%q", stagesOf(got))
	}
	in["pods"].Apply(apiwatch.Modified, named("alice-1", watchtest.OnNode).Version(2).Pod)
	in["pods"].Apply(apiwatch.Modified, named("alice-1", watchtest.OnNode, watchtest.AppReady).Version(3).Pod)
	in["pods"].Apply(apiwatch.Deleted, named("alice-1", watchtest.OnNode, watchtest.AppReady).Version(4).Pod)
	if got := stagesOf(c.take(now)); !slices.Equal(got, []string{"alice-1 Starting", "alice-1 Running"}) {
		t.Errorf("%q", got)
	}
}

// A workload that may not be watched does not end the watch: its workspace is read
// by its pods.
func TestWatchWithoutPermissionForWorkloads(t *testing.T) {
	id := idOf(t)
	client := fake.NewClientset(replica(id, "web-new-1", "new", watchtest.OnNode, watchtest.AppReady))
	denied := func(action testclient.Action) error {
		resource := action.GetResource().GroupResource()
		if resource.Group != "apps" {
			return nil
		}
		return apierrors.NewForbidden(resource, "", errors.New(`User "eve" cannot watch`))
	}
	client.PrependReactor("list", "*", func(action testclient.Action) (bool, runtime.Object, error) {
		err := denied(action)
		return err != nil, nil, err
	})
	client.PrependWatchReactor("*", func(action testclient.Action) (bool, apiwatch.Interface, error) {
		err := denied(action)
		if w, ok := action.(testclient.WatchActionImpl); ok && err == nil && w.ListOptions.SendInitialEvents != nil {
			err = apierrors.NewInvalid(schema.GroupKind{}, "", nil) // the fake has no streaming lists
		}
		return err != nil, nil, err
	})
	reader := inventory.Reader{
		Client: &kube.Client{Interface: client, Namespace: "dev"}, Policy: cause.DefaultPolicy(),
		Now: time.Now,
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first := &firstChange{stop: cancel}
	if err := Watch(ctx, reader, Query{Namespace: "dev"}, first); !errors.Is(err, context.Canceled) {
		t.Fatalf("it ended with %v", err)
	}
	if len(first.workspaces) != 1 || summary(first.workspaces[0]) != "Running 1 of 1 ready [web-new-1:Running]" {
		t.Errorf("%+v", first.workspaces)
	}
}

// firstChange ends a watch with what it first reports.
type firstChange struct {
	stop       func()
	workspaces []v1.Workspace
}

func (f *firstChange) Changed(workspaces []v1.Workspace) {
	f.workspaces = workspaces
	f.stop()
}

func (*firstChange) Interrupted(error) {}
