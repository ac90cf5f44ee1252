package health

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = object.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestStateOf(t *testing.T) {
	for name, test := range map[string]struct {
		object string
		want   State
		says   string
	}{
		"without a status": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, Current, "always ready"},
		"a rollout under way": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 1}, ` +
				`status: {observedGeneration: 1}}`,
			InProgress, "generation is 2, but latest observed generation is 1",
		},
		"a rollout that will not end": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, status: {conditions: [{type: Progressing, ` +
				`status: "False", reason: ProgressDeadlineExceeded}]}}`,
			Failed, "Progress deadline exceeded",
		},
		"a rollout after one that did not end": {
			`{apiVersion: apps/v1, kind: Deployment,
			  metadata: {name: a, generation: 2, managedFields: [{manager: m, time: "2026-11-20T12:00:00Z"}]},
			  spec: {replicas: 1, progressDeadlineSeconds: 2000000000},
			  status: {observedGeneration: 2, replicas: 1, conditions: [{type: Progressing, status: "False",
			    reason: ProgressDeadlineExceeded, lastUpdateTime: "2026-11-20T11:00:00Z"}]}}`,
			InProgress, "Updated: 0/1",
		},
		"a rollout that is not observed, after a refused one": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 1}, ` +
				`status: {observedGeneration: 1, conditions: [{type: ReplicaFailure, status: "True", ` +
				`message: 'pods "a-" is forbidden: exceeded quota: q'}]}}`,
			InProgress, "latest observed generation is 1",
		},
		"being deleted": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: ` +
			`"2026-11-20T12:00:00Z"}}`, InProgress, "deletion"},
		"replicas that a quota refuses": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1}, status: {conditions: ` +
				`[{type: ReplicaFailure, status: "True", message: 'pods "a-" is forbidden: exceeded quota: q'}]}}`,
			Failed, "exceeded quota",
		},
		"replicas that wait for an account": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 1}, status: {conditions: ` +
				`[{type: ReplicaFailure, status: "True", message: 'pods "a-" is forbidden: error looking up service ` +
				`account team/a'}]}}`,
			InProgress, "service account",
		},
		"a job that has failed": {
			`{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {conditions: [{type: Failed, status: ` +
				`"True", message: too many tries}]}}`, Failed, "too many tries",
		},
		"a pod that has failed": {`{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Failed, ` +
			`message: evicted}}`, Failed, "evicted"},
		"an API that is served": {`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}, ` +
			`status: {conditions: [{type: Available, status: "True"}]}}`, Current, "available"},
		"an API that is not served": {
			`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}, ` +
				`status: {conditions: [{type: Available, status: "False", message: no endpoints}]}}`, InProgress,
			"no endpoints",
		},
		"a kind of its own that is ready": {
			`{apiVersion: example.org/v1, kind: Crew, metadata: {name: a}, status: {conditions: [{type: Ready, ` +
				`status: "True"}]}}`,
			Current, "Ready",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if state, message := StateOf(parse(t, test.object)); state != test.want ||
				!strings.Contains(message, test.says) {
				t.Errorf("%s: %q", state, message)
			}
		})
	}
}

// A Deployment keeps for a while what it said of the revision before, or for good if that is
// true of the new one as well.
func TestOutdated(t *testing.T) {
	const (
		hangs = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: 'ReplicaSet "a-1" ` +
			`has timed out progressing.', lastUpdateTime: "2026-11-20T12:00:00Z"}`
		refused = `{type: ReplicaFailure, status: "True", reason: FailedCreate, message: 'pods "a-1-x" is forbidden: ` +
			`exceeded quota: q', lastUpdateTime: "2026-11-20T12:00:00Z"}`
	)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		condition   string
		subresource string
		observed    int
		written     time.Duration // after the condition
		read        time.Duration // after that
		want        State
		again       time.Duration // after it was written; zero for never
	}{
		"the deadline, before the change is observed": {
			condition: hangs, observed: 1, written: time.Minute,
			want: InProgress, again: 20 * time.Second,
		},
		"the deadline of before a change that is observed": {
			condition: hangs, observed: 2, written: time.Minute,
			want: InProgress, again: 20 * time.Second,
		},
		"the change is of the same second": {
			condition: hangs, observed: 2, want: InProgress,
			again: 20 * time.Second,
		},
		"the new revision has had as long": {
			condition: hangs, observed: 2, written: time.Minute,
			read: 20 * time.Second, want: Failed,
		},
		"the deadline of what was last written": {
			condition: hangs, observed: 2, written: -20 * time.Second,
			read: 20 * time.Second, want: Failed,
		},
		"the number of replicas is no other revision": {
			condition: hangs, subresource: "scale", observed: 2,
			written: time.Minute, want: Failed,
		},
		"what a quota refused, before the change is observed": {
			condition: refused, observed: 1, written: -time.Minute,
			want: InProgress,
		},
		"what a quota refused of the revision before": {
			condition: refused, observed: 2, written: time.Minute,
			want: InProgress, again: renewTime,
		},
		"what it refuses still": {
			condition: refused, observed: 2, written: time.Minute,
			read: renewTime, want: Failed,
		},
		"what it refuses of what was last written": {
			condition: refused, observed: 2, written: -time.Second,
			want: Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			written := at.Add(test.written)
			object := parse(t, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment,
  metadata: {name: a, generation: 2, managedFields: [{manager: m, time: %q, subresource: %q},
    {manager: c, subresource: status, time: "2026-11-20T13:00:00Z"}]},
  spec: {replicas: 1, progressDeadlineSeconds: 20}, status: {observedGeneration: %d, replicas: 1, conditions: [%s]}}`,
				written.Format(time.RFC3339), test.subresource, test.observed, test.condition))
			state, message, again := stateAt(object, written.Add(test.read))
			if state != test.want {
				t.Errorf("%s: %q", state, message)
			}
			if want := written.Add(test.again); test.again == 0 && !again.IsZero() || test.again != 0 &&
				!again.Equal(want) {
				t.Errorf("again %s", again)
			}
		})
	}
}

// start is a view of Deployments of a server, on which a and b are on their way.
func start(t *testing.T) (*kubetest.Server, *live.View, []*unstructured.Unstructured) {
	t.Helper()
	server := kubetest.Start(t, func(next http.Handler) http.Handler { return next })
	view := live.New(dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1}), "owner=me")
	t.Cleanup(view.Close)
	var objects []*unstructured.Unstructured
	for _, name := range []string{"a", "b"} {
		server.Put(at+name, deployment(t, ""))
		objects = append(objects, parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: `+name+
			`, namespace: team}}`))
	}
	kind := kube.Resource{GroupVersionResource: schema.GroupVersionResource{
		Group: "apps", Version: "v1",
		Resource: "deployments",
	}, Namespaced: true}
	if err := view.Watch(t.Context(), live.Scope{Resource: kind, Namespace: "team"}); err != nil {
		t.Fatal(err)
	}
	return server, view, objects
}

const at = "/apis/apps/v1/namespaces/team/deployments/"

func deployment(t *testing.T, conditions string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: team, labels: {owner: me}}, spec: `+
		`{replicas: 0, progressDeadlineSeconds: 600}, status: {conditions: [`+conditions+`]}}`)
}

const (
	available = `{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}`
	exceeded  = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: it hangs}`
)

// Each change is told once, and the wait ends with the last.
func TestWait(t *testing.T) {
	server, view, objects := start(t)
	var told []string
	rest, err := Wait(t.Context(), view, objects, time.Minute, nil, func(r Reading) {
		told = append(told, r.Object.GetName()+" "+string(r.State))
		if len(told) == 2 { // both are known to be on their way
			server.Put(at+"a", deployment(t, available))
		}
		if r.State == Current && r.Object.GetName() == "a" {
			server.Put(at+"b", deployment(t, available))
		}
	})
	if err != nil || len(rest) > 0 {
		t.Fatal(rest, err)
	}
	if got, want := strings.Join(told, ", "), "a InProgress, b InProgress, a Current, b Current"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// One that has failed ends the wait at once; the error names it, and nothing else.
func TestWaitForAFailure(t *testing.T) {
	server, view, objects := start(t)
	server.Put(at+"b", deployment(t, exceeded))
	rest, err := Wait(t.Context(), view, objects, time.Minute, nil, func(Reading) {})
	if fault.CodeOf(err) != fault.Failed || len(rest) != 2 ||
		!strings.Contains(err.Error(), "deployment/b in namespace team: Progress deadline exceeded: it hangs") ||
		strings.Contains(err.Error(), "deployment/a") {
		t.Errorf("%v: %v", rest, err)
	}
}

// What a Deployment says of the revision before ends the wait once the new one has had its time,
// though nothing changes then.
func TestWaitForAnOutdatedFailure(t *testing.T) {
	server, view, objects := start(t)
	server.Put(at+"a", deployment(t, available))
	late := deployment(t, `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: it hangs, `+
		`lastUpdateTime: "2026-11-20T11:00:00Z"}`)
	written := metav1.NewTime(time.Now().Add(time.Second - renewTime))
	late.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m", Time: &written}})
	if err := unstructured.SetNestedField(late.Object, int64(1), "spec", "progressDeadlineSeconds"); err != nil {
		t.Fatal(err)
	}
	server.Put(at+"b", late)
	var told []string
	_, err := Wait(t.Context(), view, objects[1:], time.Minute, nil,
		func(r Reading) { told = append(told, string(r.State)) })
	if got := strings.Join(told, ", "); fault.CodeOf(err) != fault.Failed ||
		!strings.HasSuffix(got, "InProgress, Failed") {
		t.Errorf("%s: %v", got, err)
	}
}

// After the time-out it is said what is missing, also what does not exist.
func TestWaitInVain(t *testing.T) {
	server, view, objects := start(t)
	server.Put(at+"a", deployment(t, available))
	objects = append(objects, parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: c, namespace: team}}`))
	rest, err := Wait(t.Context(), view, objects, 50*time.Millisecond, nil, func(Reading) {})
	problems := fault.From(err).Problems
	if fault.CodeOf(err) != fault.DeadlineExceeded || len(rest) != 2 || len(problems) != 2 ||
		!strings.Contains(problems[1], "deployment/c in namespace team: it does not exist") {
		t.Errorf("%v: %q", err, problems)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Wait(ctx, view, objects, time.Minute, nil,
		func(Reading) {}); err != context.Canceled { //nolint:errorlint // it is this very value
		t.Errorf("%v", err)
	}
}

// Gone is what was there: another object of the same name does not count. What is still
// there is named, with what holds it.
func TestWaitGone(t *testing.T) {
	server, view, _ := start(t)
	objects := view.Objects()
	slices.SortFunc(objects, func(a,
		b *unstructured.Unstructured,
	) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
	held := objects[1].DeepCopy()
	held.SetFinalizers([]string{"example.com/slow"})
	server.Put(at+"b", held)
	var told []string
	rest, err := WaitGone(t.Context(), view, objects, func(rest []Reading) {
		told = append(told, strconv.Itoa(len(rest)))
		switch len(told) {
		case 1:
			remove(t, server, "a")
			server.Put(at+"a", deployment(t, available))
		case 2:
			remove(t, server, "b")
		}
	})
	if err != nil || len(rest) > 0 || strings.Join(told, " ") != "2 1 0" {
		t.Errorf("%v, %v, %v", rest, err, told)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	left := view.Objects()
	rest, err = WaitGone(ctx, view, left, func([]Reading) { cancel(context.DeadlineExceeded) })
	if !errors.Is(err, context.DeadlineExceeded) || len(rest) != len(left) {
		t.Errorf("%v, %v", rest, err)
	}
}

func remove(t *testing.T, server *kubetest.Server, name string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, server.URL+at+name, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
}

func TestHolding(t *testing.T) {
	for text, want := range map[string]string{
		`{kind: X, metadata: {name: a}}`: "it is being deleted",
		`{kind: X, metadata: {name: a, finalizers: [example.com/x, example.com/y]}}`: "it is held by " +
			"example.com/x, example.com/y",
	} {
		if got := holding(parse(t, text)); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// What a view still has from before it was applied does not count.
func TestIsOlder(t *testing.T) {
	applied := parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, uid: u1, generation: 2}}`)
	for text, want := range map[string]bool{
		`{uid: u1, generation: 1}`: true, `{uid: u0, generation: 2}`: true, `{uid: u1, generation: 2}`: false,
		`{uid: u1, generation: 3}`: false,
	} {
		if got := isOlder(parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: `+text+`}`),
			applied); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
