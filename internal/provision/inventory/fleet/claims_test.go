package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// mounts lets a pod mount a claim.
func mounts(pod *corev1.Pod) {
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}
	pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}}}
}

// A list that is watched knows why a claim is not there, as one that is read once: the claims are
// watched as soon as a pod waits that mounts one, and not before.
func TestCacheWatchesClaims(t *testing.T) {
	reader := inventory.Reader{
		Client: &kube.Client{Interface: fake.NewClientset(), Namespace: "dev"},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.Epoch.Add(20 * time.Second) },
	}
	c, in := newCache(reader, Query{Namespace: "dev"}), map[string]*input{}
	var started []string
	c.start = func(i *input) {
		name := strings.TrimSpace(i.source.Resource + " " + i.source.Fields)
		started, in[name] = append(started, name), i
	}
	c.startAll(c.sources(""))
	in["pods"].Apply("ADDED", named("alice-1", mounts, watchtest.OnNode).Pod)
	in["pods"].Apply("ADDED", named("bob-1").Pod)
	if len(started) != 2 {
		t.Fatalf("watched without need: %q", started)
	}
	in["pods"].Apply("ADDED", named("carol-1", mounts).Pod)
	const events = "events involvedObject.kind=PersistentVolumeClaim"
	if want := []string{"persistentvolumeclaims", events}; !slices.Equal(started[2:], want) {
		t.Fatalf("%q, want %q", started[2:], want)
	}
	if !in[events].optional || !in["persistentvolumeclaims"].optional {
		t.Error("who may not read claims cannot watch workspaces")
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "data", UID: "claim"}}
	failed := watchtest.Event("data", "claim", "", "ProvisioningFailed",
		`storageclass.storage.k8s.io "none" not found`).
		Warn()
	failed.InvolvedObject.Kind = kindClaim
	in["persistentvolumeclaims"].Replace([]runtime.Object{claim}, "1")
	in[events].Replace([]runtime.Object{failed.Event}, "1")
	codes := map[string]string{}
	for _, w := range c.open(reader.Now()) {
		if w.Cause != nil {
			codes[w.ID] = w.Cause.Code
		}
	}
	if len(codes) != 1 || codes["carol-1"] != cause.StorageClassMissing {
		t.Errorf("%q", codes)
	}
}

// A list that is read once knows why a claim is not there, if a pod of any workspace mounts one.
func TestListReadsClaims(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "dev", Name: "data", UID: "claim"}}
	failed := watchtest.Event("data", "claim", "", "ProvisioningFailed",
		`storageclass.storage.k8s.io "none" not found`).
		Warn().Event
	failed.InvolvedObject.Kind, failed.Namespace = kindClaim, "dev"
	client := fake.NewClientset(named("alice-1").Pod, named("bob-1").Pod, named("carol-1", mounts).Pod,
		named("dave-1").Pod, claim, failed)
	reader := inventory.Reader{
		Client: &kube.Client{Interface: client, Namespace: "dev"},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.After(time.Minute) },
	}
	for range 8 { // in whatever order they come
		list, err := List(t.Context(), reader, Query{Namespace: "dev"})
		if err != nil || len(list.Items) != 4 {
			t.Fatal(list, err)
		}
		if c := list.Items[2].Cause; c == nil || c.Code != cause.StorageClassMissing {
			t.Errorf("%s: %+v", list.Items[2].ID, c)
		}
	}
}
