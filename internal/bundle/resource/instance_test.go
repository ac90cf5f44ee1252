package resource

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// What has failed is asked for again when it is wanted once more; what is well, or wanted
// otherwise, is not.
func TestRequestRetry(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	instance := func(cfg string, installed metav1.ConditionStatus) *v1alpha1.Instance {
		in := &v1alpha1.Instance{Spec: v1alpha1.InstanceSpec{
			ProvisionerClassName: v1alpha1.ClassPlain,
			Config:               []byte(cfg),
		}}
		for _, kind := range []string{v1alpha1.ConditionInstalled, v1alpha1.ConditionHealthy} {
			meta.SetStatusCondition(&in.Status.Conditions, metav1.Condition{Type: kind, Status: installed, Reason: "R"})
		}
		return in
	}
	uninstalling := instance(`{"namespace":"a"}`, metav1.ConditionTrue)
	uninstalling.Annotations = map[string]string{v1alpha1.AnnotationUninstalling: "then"}
	for name, test := range map[string]struct {
		current *v1alpha1.Instance
		want    string
	}{
		"it is being uninstalled": {uninstalling, `{"namespace":"a","requested":"2026-01-02T03:04:05Z"}`},
		"nothing is there":        {nil, `{"namespace":"a"}`},
		"it is well":              {instance(`{"namespace":"a"}`, metav1.ConditionTrue), `{"namespace":"a"}`},
		"it has failed": {
			instance(`{"namespace":"a"}`, metav1.ConditionFalse),
			`{"namespace":"a","requested":"2026-01-02T03:04:05Z"}`,
		},
		"it has failed again": {
			instance(`{"namespace":"a","requested":"x"}`, metav1.ConditionFalse),
			`{"namespace":"a","requested":"2026-01-02T03:04:05Z"}`,
		},
		"it is well already": {
			instance(`{"namespace":"a","requested":"x"}`, metav1.ConditionTrue),
			`{"namespace":"a","requested":"x"}`,
		},
		"something else is wanted":  {instance(`{"namespace":"b"}`, metav1.ConditionFalse), `{"namespace":"a"}`},
		"nobody can read it so far": {instance(`{"nonsense":1}`, metav1.ConditionFalse), `{"namespace":"a"}`},
	} {
		wanted := instance(`{"namespace":"a"}`, "")
		if err := RequestRetry(wanted, test.current, now); err != nil || string(wanted.Spec.Config) != test.want {
			t.Errorf("%s: %s, %v", name, wanted.Spec.Config, err)
		}
	}
}
