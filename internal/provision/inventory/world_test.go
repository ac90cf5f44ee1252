package inventory

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// world is an API server in memory, and a reader of its namespace, team, an hour after the pods
// were made.
type world struct {
	Reader
	t        *testing.T
	server   *kubetest.Server
	set      *appsv1.ReplicaSet // of the workload web; nil without one
	requests *kubetest.Refusals
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, requests: &kubetest.Refusals{}}
	w.server = kubetest.Start(t, w.requests.Wrap)
	typed, untyped, config := kubetest.Clients(t, w.server.URL)
	w.Reader = Reader{
		Client: &kube.Client{
			Interface: typed, Dynamic: untyped, Config: config, HTTP: http.DefaultClient,
			Namespace: "team",
		},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.After(time.Hour) },
	}
	return w
}

// put puts an object of a resource into the namespace.
func (w *world) put(api, resource, kind string, object metav1.Object) {
	w.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		w.t.Fatal(err)
	}
	o := &kubetest.Object{Object: content}
	version := map[string]string{"api/v1": "v1", "apis/apps/v1": "apps/v1"}[api]
	o.SetAPIVersion(version)
	o.SetKind(kind)
	w.server.Put("/"+api+"/namespaces/team/"+resource+"/"+object.GetName(), o)
}

// pod puts a pod of a workspace there, with its labels.
func (w *world) pod(name, id, user string, changes ...func(*corev1.Pod)) {
	w.t.Helper()
	pod := watchtest.NewPod(name, "", changes...).Pod
	pod.Namespace = "team"
	meta := marked(w.t, id, user)
	pod.Labels, pod.Annotations = meta.Labels, meta.Annotations
	if IsInjected(pod) {
		set := types.UID("gone")
		if w.set != nil {
			set = w.set.UID
		}
		watchtest.OfDeployment(pod, "web", set)
	}
	pod.Labels["app"] = "web"
	w.put("api/v1", "pods", "Pod", pod)
}

// marked is what the objects of a workspace carry: those of one that is injected say so.
func marked(t *testing.T, id, user string) metav1.ObjectMeta {
	t.Helper()
	u, err := userstring.Parse(user)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{kube.LabelCanonicalID: id, kube.LabelUsername: u.User, kube.LabelBlueprint: "dev"}
	if !u.Workload.IsZero() {
		labels[kube.LabelInjected], labels[kube.LabelWorkloadKind], labels[kube.LabelWorkloadName] = "true",
			u.Workload.Kind, u.Workload.Name
	}
	return metav1.ObjectMeta{Labels: labels, Annotations: of(user)}
}

// release puts Helm's record of a workspace there.
func (w *world) release(id, user string) {
	w.t.Helper()
	meta := marked(w.t, id, user)
	record := &helm.Release{
		Name: id, Namespace: "team", Version: 1, Info: &helm.Info{},
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "workspace"}}, Manifest: fmt.Sprintf(
			"---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {%s: %s, %s: dev}, annotations: {%s: %s}}\n",
			id, kube.LabelUsername, meta.Labels[kube.LabelUsername], kube.LabelBlueprint, kube.AnnotationUserString,
			meta.Annotations[kube.AnnotationUserString],
		),
	}
	release.Deployed(record, watchtest.Epoch)
	if err := w.Records().Create(w.t.Context(), record); err != nil {
		w.t.Fatal(err)
	}
}

// deployment puts the workload web there, with the workspace of an ID in it, or without any.
func (w *world) deployment(id, user string) {
	w.t.Helper()
	d := watchtest.Deployment(1, 1)
	d.Namespace, d.Name = "team", "web"
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	if id != "" {
		d.Annotations = map[string]string{kube.AnnotationInjection: fmt.Sprintf(`{"canonicalId":%q,"userString":%q}`,
			id, user)}
		d.Spec.Template.ObjectMeta = marked(w.t, id, user)
	}
	w.put("apis/apps/v1", "deployments", "Deployment", d)
	w.set = &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: "web-1", Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{"deployment.kubernetes.io/revision": "1"},
		OwnerReferences: watchtest.OwnedBy("Deployment",
			w.server.Get("/apis/apps/v1/namespaces/team/deployments/web").GetUID()),
	}}
	w.put("apis/apps/v1", "replicasets", "ReplicaSet", w.set)
	w.set.UID = w.server.Get("/apis/apps/v1/namespaces/team/replicasets/web-1").GetUID()
}

// claim puts a claim there with labels and annotations.
func (w *world) claim(name string, meta metav1.ObjectMeta) {
	w.t.Helper()
	meta.Name = name
	w.put("api/v1", "persistentvolumeclaims", "PersistentVolumeClaim", &corev1.PersistentVolumeClaim{ObjectMeta: meta})
}

// config puts a ConfigMap of a workspace there.
func (w *world) config(name string, meta metav1.ObjectMeta) {
	w.t.Helper()
	meta.Name = name
	w.put("api/v1", "configmaps", "ConfigMap", &corev1.ConfigMap{ObjectMeta: meta})
}

// named is what somebody named, and the ID that it has.
func named(t *testing.T, text string) Argument {
	t.Helper()
	arg, err := ParseArgument(text)
	if err != nil {
		t.Fatal(err)
	}
	return arg
}
