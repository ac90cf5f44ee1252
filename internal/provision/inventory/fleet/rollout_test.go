package fleet

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	dynamic "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	testclient "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

const user = "alice~dev+workload=deployment/web+ns=dev"

func idOf(t *testing.T) string {
	t.Helper()
	u, err := userstring.Parse(user)
	if err != nil {
		t.Fatal(err)
	}
	return u.ID()
}

// marked is what the pod template of an injected workspace carries.
func marked(id string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Labels: map[string]string{
			kube.LabelCanonicalID: id, kube.LabelInjected: "true", kube.LabelUsername: "alice",
			kube.LabelWorkloadKind: "deployment", kube.LabelWorkloadName: "web", kube.LabelJobID: "new",
		},
		Annotations: map[string]string{kube.AnnotationUserString: base64.StdEncoding.EncodeToString([]byte(user))},
	}
}

// deployment wants three pods and has the workspace in its template.
func deployment(id string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	three := int32(3)
	d := watchtest.Deployment(2, 2, func(d *appsv1.Deployment) {
		d.Annotations = map[string]string{kube.AnnotationInjection: fmt.Sprintf(`{"canonicalId":%q}`, id)}
		d.Spec.Replicas, d.Spec.Selector = &three, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		d.Spec.Template.ObjectMeta = marked(id)
		d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 4, 1, 3, 3
	})
	for _, change := range changes {
		change(d)
	}
	return d
}

func replicaSet(id, uid, revision string, ready int32) *appsv1.ReplicaSet {
	meta := marked(id)
	if id == "" {
		meta = metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	}
	meta.Name, meta.Namespace, meta.UID, meta.ResourceVersion = "web-"+uid, "dev", types.UID(uid), "1"
	meta.Labels["app"], meta.Annotations["deployment.kubernetes.io/revision"] = "web", revision
	meta.OwnerReferences = watchtest.OwnedBy("Deployment", "web")
	return &appsv1.ReplicaSet{ObjectMeta: meta, Status: appsv1.ReplicaSetStatus{ReadyReplicas: ready}}
}

func replica(id, name string, set types.UID, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := watchtest.NewPod(name, types.UID(name), append(changes, func(pod *corev1.Pod) {
		if id != "" {
			meta := marked(id)
			pod.Labels, pod.Annotations = meta.Labels, meta.Annotations
		} else {
			pod.Labels = map[string]string{}
		}
		pod.Labels["app"] = "web"
		watchtest.OfDeployment(pod, "web", set)
	})...)
	return pod.Pod
}

// A workspace is read the same in a list, alone, and as it changes: by the newest
// revision of its workload, of which the pods alone do not tell how many there are
// to be.
func TestAWorkspaceReadsTheSame(t *testing.T) {
	id := idOf(t)
	ready := []func(*corev1.Pod){watchtest.OnNode, watchtest.AppReady}
	before := []runtime.Object{
		replicaSet("", "old", "1", 2), replica("", "web-old-1", "old", ready...),
		replica("", "web-old-2", "old", ready...),
	}
	refused := replicaSet(id, "new", "2", 0)
	refused.Status.Conditions = []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: small",
	}}
	complains := watchtest.Event("web", "web", "", "ReplicaSetCreateError", "it is refused").Warn().Event
	complains.InvolvedObject.Kind, complains.Namespace = "Deployment", "dev"
	for _, test := range []struct {
		name    string
		objects []runtime.Object
		want    string
	}{
		{
			"in the middle of a rollout",
			append(before, deployment(id), replicaSet(id, "new", "2", 1), replica(id, "web-new-1", "new", ready...),
				complains),
			"Starting 1 of 3 ready [web-new-1:Running]",
		},
		{
			"a pod of the new revision comes up",
			append(before, deployment(id), replicaSet(id, "new", "2", 1), replica(id, "web-new-1", "new", ready...),
				replica(id, "web-new-2", "new", watchtest.OnNode,
					watchtest.App(watchtest.Waits("ContainerCreating", "")))),
			"Starting 1 of 3 ready; app is being created [web-new-1:Running web-new-2:Starting]",
		},
		{
			"the quota allows no more",
			append(before, deployment(id), refused, replica(id, "web-new-1", "new")),
			"Scheduling 0 of 3 ready; 3 pods of the revision before still ready [web-new-1:Scheduling] QuotaExceeded",
		},
		{
			"the rollout is complete",
			[]runtime.Object{
				deployment(id, func(d *appsv1.Deployment) {
					d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 3, 3, 3
				}),
				replicaSet(id, "new", "2", 3), replica(id, "web-new-1", "new", ready...),
				replica(id, "web-new-2", "new", ready...), replica(id, "web-new-3", "new", ready...),
			},
			"Running 3 of 3 ready [web-new-1:Running web-new-2:Running web-new-3:Running]",
		},
		{
			"the workload is gone",
			[]runtime.Object{replica(id, "web-new-1", "new", watchtest.OnNode, watchtest.Deleting)},
			"Terminating grace period 30 s [web-new-1:Terminating]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewClientset(test.objects...)
			reader := inventory.Reader{
				Client: &kube.Client{
					Interface: client,
					Dynamic:   dynamic.NewSimpleDynamicClient(scheme.Scheme, workloads(test.objects)...),
					Namespace: "dev",
				},
				Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.After(time.Minute) },
			}
			list, err := List(t.Context(), reader, Query{Namespace: "dev"})
			if err != nil || len(list.Items) != 1 {
				t.Fatalf("listed %+v, %v", list, err)
			}
			if got := summary(list.Items[0]); got != test.want {
				t.Errorf("listed:\n%s, want\n%s", got, test.want)
			}
			arg, err := inventory.ParseArgument(user)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := reader.Inspect(t.Context(), arg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(list.Items[0], *alone); diff != "" {
				t.Errorf("alone it differs (-list +alone):\n%s", diff)
			}
			if diff := cmp.Diff(list.Items[0], watched(t, reader, test.objects)); diff != "" {
				t.Errorf("watched it differs (-list +watched):\n%s", diff)
			}
		})
	}
}

// Where the caller may not read the workload, its pods alone are read.
func TestAWorkloadThatMayNotBeRead(t *testing.T) {
	id := idOf(t)
	client := fake.NewClientset(deployment(id), replicaSet(id, "new", "2", 1),
		replica(id, "web-new-1", "new", watchtest.OnNode, watchtest.AppReady))
	client.PrependReactor("*", "*", func(action testclient.Action) (bool, runtime.Object, error) {
		resource := action.GetResource().GroupResource()
		return resource.Group == "apps", nil, apierrors.NewForbidden(resource, "", nil)
	})
	reader := inventory.Reader{
		Client: &kube.Client{Interface: client, Namespace: "dev"}, Policy: cause.DefaultPolicy(),
		Now: time.Now,
	}
	list, err := List(t.Context(), reader, Query{Namespace: "dev"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if got := summary(list.Items[0]); got != "Running 1 of 1 ready [web-new-1:Running]" {
		t.Error(got)
	}
}

// A workspace that is no longer in the template is being removed, as long as pods
// still have it.
func TestAWorkspaceThatIsTakenOut(t *testing.T) {
	id := idOf(t)
	w, _ := inventory.Objects{
		Workload: deployment(id, func(d *appsv1.Deployment) { d.Annotations = nil }),
		Pods:     []*corev1.Pod{replica(id, "web-new-1", "new", watchtest.OnNode, watchtest.AppReady)},
	}.Workspace(cause.DefaultPolicy(), watchtest.Epoch)
	if got := summary(w); got != "Terminating 1 of 1 ready; no longer in deployment/web [web-new-1:Running]" {
		t.Error(got)
	}
}

// A change of a workload is one of the workspaces that are in it, and of no others.
func TestAWorkloadThatChanges(t *testing.T) {
	id, now := idOf(t), watchtest.Epoch
	objects := []runtime.Object{
		named("bob-1").Pod, replica(id, "web-new-1", "new", watchtest.OnNode, watchtest.AppReady), deployment(id),
	}
	reader := inventory.Reader{
		Client: &kube.Client{Interface: fake.NewClientset(), Namespace: "dev"},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return now },
	}
	c, in := synced(t, reader, objects)
	c.open(now)
	takenOut := deployment(id, func(d *appsv1.Deployment) { d.Annotations, d.ResourceVersion = nil, "3" })
	in["deployments.apps"].Apply(apiwatch.Modified, takenOut)
	got := c.take(now)
	if len(got) != 1 || got[0].ID != id || got[0].Stage != v1.StageTerminating {
		t.Errorf("%q", stagesOf(got))
	}
}

func workloads(objects []runtime.Object) (found []runtime.Object) {
	for _, o := range objects {
		if d, ok := o.(*appsv1.Deployment); ok {
			d = d.DeepCopy()
			d.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
			found = append(found, d)
		}
	}
	return found
}

// watched is what a watch reports of the only workspace after it has received
// these objects.
func watched(t *testing.T, r inventory.Reader, objects []runtime.Object) v1.Workspace {
	t.Helper()
	c, _ := synced(t, r, objects)
	got := c.open(r.Now())
	if len(got) != 1 {
		t.Fatalf("watched %+v", got)
	}
	return got[0]
}

// synced is a cache that has received these objects, and what it receives more from, by its resource.
func synced(t *testing.T, r inventory.Reader, objects []runtime.Object) (*workspaceCache, map[string]*input) {
	t.Helper()
	c, inputs := newCache(r, Query{Namespace: "dev"}), map[string]*input{}
	var all []*input
	c.start = func(in *input) { all = append(all, in) }
	c.startAll(c.sources(kube.LabelCanonicalID))
	for len(all) > 0 { // more are started when a pod needs them
		in := all[0]
		all, inputs[in.source.Resource] = all[1:], in
		var listed []runtime.Object
		for _, o := range objects {
			meta, _ := o.(metav1.Object)
			_, isPod := o.(*corev1.Pod)
			if in.source.Covers(meta) && (!isPod || meta.GetLabels()[kube.LabelCanonicalID] != "") {
				listed = append(listed, o.DeepCopyObject())
			}
		}
		in.Replace(listed, "1")
	}
	select {
	case <-c.synced:
	default:
		t.Fatal("it is not in sync")
	}
	return c, inputs
}

func summary(w v1.Workspace) string {
	var replicas []string
	for _, r := range w.Replicas {
		replicas = append(replicas, r.Name+":"+string(r.Stage))
	}
	code := ""
	if w.Cause != nil {
		code = w.Cause.Code
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", w.Stage, w.Message, replicas, code))
}
