package injected

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
)

// injectedInto is a target whose workspace is in its Deployment.
func injectedInto(t *testing.T) (Target, deploy.Turn) {
	t.Helper()
	target, turn := into(t, "none", "none", nil)
	change, err := injection.Inject(turn.Found.Workload.Object, deploymentOf().Parts)
	if err != nil {
		t.Fatal(err)
	}
	deployments := target.Client.Dynamic.Resource(schema.GroupVersionResource{
		Group: "apps", Version: "v1",
		Resource: "deployments",
	}).Namespace("dev")
	if _, err := deployments.Update(t.Context(), &unstructured.Unstructured{Object: change.After},
		metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return target, turn
}

// A workspace is taken out by a stop and by a removal, which say from where, and what is left:
// a workload without it. Stopped again, it is not there.
func TestTakingOut(t *testing.T) {
	for name, take := range map[string]func(Target, deploy.Turn) (deploy.Removal, error){
		"stop": func(target Target, turn deploy.Turn) (deploy.Removal, error) {
			return target.Stop(t.Context(), turn, false)
		},
		"remove": func(target Target, turn deploy.Turn) (deploy.Removal, error) {
			return target.Remove(t.Context(), turn, deploy.Removing{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			target, turn := injectedInto(t)
			removal, err := take(target, turn)
			if err != nil || !strings.HasPrefix(removal.Done, "deployment/web") || removal.Gone ||
				removal.Found.Workload == nil || removal.Found.Workload.Injected() {
				t.Errorf("%+v, %v", removal, err)
			}
			if removal, err = target.Stop(t.Context(), turn, false); err != nil || !removal.Gone ||
				removal.Done != "it is not in deployment/web" {
				t.Errorf("again: %+v, %v", removal, err)
			}
		})
	}
}
