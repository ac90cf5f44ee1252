package provision

import (
	"errors"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// limit makes the run's cluster answer that its caller may do nothing but this,
// and refuse to get claims.
func (r *run) limit(t *testing.T, may ...rbac.Access) {
	t.Helper()
	client, ok := r.Client.Interface.(*fake.Clientset)
	if !ok {
		t.Fatalf("the cluster is a %T", r.Client.Interface)
	}
	client.PrependReactor("create", "selfsubjectrulesreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		review := &authorizationv1.SelfSubjectRulesReview{}
		for _, a := range may {
			review.Status.ResourceRules = append(review.Status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: []string{a.Verb}, APIGroups: []string{a.Group}, Resources: []string{a.Resource},
			})
		}
		return true, review, nil
	})
	client.PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "home", errors.New(`User "alice" cannot get resource "persistentvolumeclaims"`))
	})
	r.Client.Dynamic = dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
}

// What is missing is missing for what the run is at.
func TestWhatAPermissionIsMissingFor(t *testing.T) {
	r := runOn(t, nil)
	r.limit(t)
	r.found.Workload = &workload.Workload{Ref: userstring.Workload{Kind: "deployment", Name: "web"}}
	for name, check := range map[string]struct {
		err  error
		says string
	}{
		"a removal":         {r.mayRemove(t.Context()), "deleting " + id},
		"an ejection":       {r.mayEject(t.Context()), "deleting " + id},
		"an injection":      {r.permitted("provisioning", rbac.Inject, nil), "provisioning " + id},
		"one that is alone": {r.permitted("provisioning", rbac.Provision, nil), "provisioning " + id},
	} {
		if fault.CodeOf(check.err) != fault.PermissionDenied || !strings.Contains(check.err.Error(), "that "+check.says+" takes") {
			t.Errorf("%s: %v", name, check.err)
		}
	}
}

// A workspace that waits is removed by who may not see what its claims wait for.
func TestRemovalWithoutALookAtClaims(t *testing.T) {
	pod := workspacePod(false)
	pod.Spec.Volumes = []corev1.Volume{{Name: "home", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home"},
	}}}
	r := runOn(t, pod)
	var may []rbac.Access
	for _, a := range rbac.Named(rbac.Delete).All() {
		if a.String() != "get persistentvolumeclaims" {
			may = append(may, a)
		}
	}
	r.limit(t, may...)
	if err := r.Records().Create(t.Context(), release.NewRecord(id, "dev", r.rendered, time.Now())); err != nil {
		t.Fatal(err)
	}
	arg, err := inventory.ParseArgument("id/" + id)
	if err != nil {
		t.Fatal(err)
	}
	target, err := r.Find(t.Context(), arg)
	if err != nil || target.Found.Pod == nil || target.Found.Record == nil {
		t.Fatalf("found is %+v, %v", target, err)
	}
	r.found = target.Found
	if _, err := r.uninstall(t.Context(), true); err != nil {
		t.Error(err)
	}
}
