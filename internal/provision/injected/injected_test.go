package injected

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

const id = "alice-1"

func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name     string
		by       string
		stage    v1.Stage
		outdated bool
		lacks    bool
		want     deploy.Plan
	}{
		{"nothing in it", "", v1.StageUnknown, true, true, deploy.Install},
		{"running", id, v1.StageRunning, false, false, deploy.Refuse},
		{"running, of an older blueprint", id, v1.StageRunning, true, false, deploy.Refuse},
		{"running, without its ConfigMap", id, v1.StageRunning, false, true, deploy.Heal},
		{"starting", id, v1.StagePulling, false, false, deploy.Resume},
		{"starting, without its ConfigMap", id, v1.StageInitializing, false, true, deploy.Heal},
		{"starting, of an older blueprint", id, v1.StageStarting, true, false, deploy.Replace},
		{"starting, of an older blueprint, without its ConfigMap", id, v1.StageStarting, true, true, deploy.Replace},
		{"failed", id, v1.StageFailed, false, false, deploy.Replace},
		{"failed, without its ConfigMap", id, v1.StageFailed, false, true, deploy.Replace},
	} {
		f := inventory.Found{Workload: &workload.Workload{ID: id}, Reading: v1.Snapshot{Stage: test.stage}}
		if test.by != "" {
			f.Workload.Record = &injection.Record{CanonicalID: test.by}
		}
		if got := decide(f, test.outdated, test.lacks); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// Whether a workspace is outdated is known only once it is rendered.
func TestDecideBeforePrepare(t *testing.T) {
	f := inventory.Found{
		Workload: &workload.Workload{ID: id, Record: &injection.Record{CanonicalID: id, Hash: "older"}},
		Reading:  v1.Snapshot{Stage: v1.StagePulling},
	}
	for name, test := range map[string]struct {
		d    deploy.Deployment
		want deploy.Plan
	}{
		"before":   {deploy.Deployment{}, deploy.Resume},
		"after it": {deploy.Deployment{Parts: injection.Parts{ID: id}}, deploy.Replace},
	} {
		if got := (Target{}).Decide(f, test.d); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Everything that prevents an injection is reported at once, and whether it can
// be forced.
func TestRefusal(t *testing.T) {
	paused := injection.Finding{Severity: injection.Refusal, Message: "paused", Hint: "resume"}
	host := injection.Finding{Severity: injection.Impossible, Message: "hostPID", Hint: "another"}
	one := fault.From(refusal([]injection.Finding{paused}))
	if one.Message != "paused" || one.Hint != "resume; or use --force" || one.Code != fault.Failed {
		t.Errorf("%+v", one)
	}
	two := fault.From(refusal([]injection.Finding{paused, host}))
	if len(two.Problems) != 2 || strings.Contains(two.Hint, "--force") {
		t.Errorf("%+v", two)
	}
	if err := refusal(nil); err != nil {
		t.Errorf("nothing prevents it, but %v", err)
	}
}

// What is left of what was found is said: a refusal ends it, unless it is forced.
func TestExamine(t *testing.T) {
	web := func(change func(spec map[string]any)) *workload.Workload {
		spec := map[string]any{"replicas": int64(1), "template": map[string]any{"spec": map[string]any{}}}
		change(spec)
		return &workload.Workload{Object: map[string]any{
			"kind": "Deployment", "metadata": map[string]any{"name": "web"},
			"spec": spec,
		}}
	}
	paused := func(spec map[string]any) { spec["paused"] = true }
	hostPID := func(spec map[string]any) {
		spec["template"] = map[string]any{"spec": map[string]any{"hostPID": true}}
	}
	for name, test := range map[string]struct {
		change func(spec map[string]any)
		force  bool
		says   string // empty for nothing
	}{
		"nothing":                        {func(map[string]any) {}, false, ""},
		"a refusal":                      {paused, false, "paused"},
		"a refusal, forced":              {paused, true, ""},
		"what cannot be":                 {hostPID, false, "hostPID"},
		"what cannot be, also by force":  {hostPID, true, "hostPID"},
		"several, of which one is named": {func(spec map[string]any) { paused(spec); hostPID(spec) }, true, "hostPID"},
	} {
		target := Target{ID: id, Steps: deploy.NewSteps(event.NewStream("alice", time.Now), time.Now)}
		target.Force = test.force
		err := target.examine(web(test.change), injection.Parts{ID: id}, nil)
		if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}

// A chart that has no pod is not put into anything.
func TestPrepareWithoutAPod(t *testing.T) {
	if _, plan, err := (Target{ID: id}).
		prepare(manifest.Spec{}, &release.Rendered{}, nil, inventory.Found{},
			deploy.Permissions{}); fault.CodeOf(err) != fault.Internal || plan != "" {
		t.Errorf("%q, %v", plan, err)
	}
}

// The hints of an injected workspace know its blueprint, and the image of any container.
func TestPrepareKnowsTheBlueprint(t *testing.T) {
	target, turn := into(t, "get", "nothing", nil)
	user, err := userstring.Parse("alice~dev+ns=dev+workload=deployment/web")
	if err != nil {
		t.Fatal(err)
	}
	spec := manifest.Spec{User: user, Namespace: "dev"}
	spec.Blueprint.Name, spec.Blueprint.Image = "dev", "x"
	d, plan, err := target.Prepare(spec, turn.Found, deploy.Permissions{Review: rbac.Review{Incomplete: true}})
	if err != nil || plan != deploy.Install {
		t.Fatal(plan, err)
	}
	for container, want := range map[string]cause.About{
		id + "-" + v1.MainContainer: {
			Namespace: "dev", Controlled: true, Blueprint: "dev", UserString: user.String(),
			Image: "x",
		},
		"web": {Namespace: "dev", Controlled: true, Image: "web:1"},
	} {
		if got := d.About(&v1.Cause{Container: container}); got.Blueprint != want.Blueprint ||
			got.UserString != want.UserString || got.Image != want.Image || got.Controlled != want.Controlled {
			t.Errorf("%s: %+v, want %+v", container, got, want)
		}
	}
}

// into is a target in a Deployment, on a cluster that answers like this to the
// writing of a resource.
func into(t *testing.T, verb, resource string, answer error) (Target, deploy.Turn) {
	t.Helper()
	web := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "dev"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:1"}}},
			},
		},
	}}
	client := fake.NewSimpleDynamicClient(runtime.NewScheme(), web)
	client.PrependReactor(verb, resource,
		func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, answer })
	typed := kubefake.NewClientset()
	reader := inventory.Reader{Client: &kube.Client{Interface: typed, Dynamic: client, Namespace: "dev"}, Now: time.Now}
	target := Target{
		Reader: reader, ID: id, Ref: userstring.Workload{Kind: "deployment", Name: "web"},
		Steps: deploy.NewSteps(event.NewStream("alice", time.Now), time.Now),
	}
	turn := deploy.Turn{Plan: deploy.Install}
	var err error
	if turn.Found.Workload, err = workload.Read(t.Context(), reader.Client, id, target.Ref); err != nil {
		t.Fatal(err)
	}
	locker := lock.Locker{
		Leases: typed.CoordinationV1().Leases("dev"), Namespace: "dev", Self: lock.Self(),
		Now: time.Now,
	}
	if turn.Lock, _, err = locker.Try(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { turn.Lock.Release(context.Background()) })
	return target, turn
}

func deploymentOf(objects ...*unstructured.Unstructured) deploy.Deployment {
	return deploy.Deployment{Objects: objects, Parts: injection.Parts{
		ID: id, Objects: objects, Containers: []any{map[string]any{"name": "main"}},
		Labels: map[string]string{kube.LabelJobID: "mine"},
	}}
}

// A patch that the API server declines has changed nothing; one whose answer is
// lost may have.
func TestWhetherThePatchIsWritten(t *testing.T) {
	web := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for _, test := range []struct {
		answer error
		begun  bool
	}{
		{apierrors.NewForbidden(web, "web", errors.New("denied the request")), false},
		{apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil), false},
		{apierrors.NewTimeoutError("slow", 1), true},
		{errors.New("connection reset by peer"), true},
	} {
		target, turn := into(t, "patch", "deployments", test.answer)
		if result, err := target.BringUp(t.Context(), turn, deploymentOf()); err == nil ||
			result.Changes.Any() != test.begun {
			t.Errorf("%v: %v, begun: %t", test.answer, err, result.Changes.Any())
		}
	}
}

// That the workspace was there before is known also where a claim is refused: the
// run that injected it is not mistaken for a later one.
func TestReplacedIsKnownBeforeAnythingIsCreated(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data",
		errors.New("exceeded quota: q"))
	target, turn := into(t, "create", "persistentvolumeclaims", refused)
	turn.Plan = deploy.Replace
	result, err := target.BringUp(t.Context(), turn, deploymentOf(kube.Named("PersistentVolumeClaim", "data")))
	if err == nil || result.Changes.Any() {
		t.Errorf("%v, created: %t", err, result.Changes.Any())
	}
	there := map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		kube.AnnotationInjection: `{"canonicalId":"` + id + `"}`,
	}}}
	if err := target.mayUndo(there, "mine", result.Changes); err == nil || err.Error() != "it existed before this run" {
		t.Errorf("it says %v", err)
	}
}

// A failed run takes out of a workload what it has put there, and nothing else.
func TestMayUndo(t *testing.T) {
	for _, test := range []struct {
		name, record, job string
		replaced          bool
		says              string // empty if it may
	}{
		{"not injected yet", "", "", false, ""},
		{"as this run left it", `{"canonicalId":"alice-1"}`, "mine", false, ""},
		{"there before", `{"canonicalId":"alice-1"}`, "mine", true, "before this run"},
		{"injected again", `{"canonicalId":"alice-1"}`, "theirs", false, "injected again or relabelled"},
		{"rolled back", `{"canonicalId":"alice-1"}`, "", false, "injected again or relabelled"},
		{"another workspace", `{"canonicalId":"bob-2"}`, "theirs", false, "bob-2"},
		{"a record that cannot be read", `{`, "mine", false, "cannot be read"},
	} {
		object := map[string]any{
			"metadata": map[string]any{},
			"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
				"labels": map[string]any{kube.LabelJobID: test.job},
			}}},
		}
		if test.record != "" {
			object["metadata"] = map[string]any{"annotations": map[string]any{kube.AnnotationInjection: test.record}}
		}
		err := (Target{ID: id}).mayUndo(object, "mine", deploy.Changes{Replaced: test.replaced})
		if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
}
