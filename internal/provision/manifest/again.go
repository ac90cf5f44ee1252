package manifest

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
)

// JobOf is the job that values were made for; empty if they do not say.
func JobOf(values map[string]any) string {
	labels, _ := values["labels"].(map[string]any)
	job, _ := labels[kube.LabelJobID].(string)
	return job
}

// OfJob are the values of an earlier job for another one, and what is known of the
// blueprint that they were made of.
func OfJob(values map[string]any, jobID string) (map[string]any, blueprint.Blueprint) {
	values = runtime.DeepCopyJSON(values)
	labels, ok := values["labels"].(map[string]any)
	if !ok {
		return values, blueprint.Blueprint{}
	}
	name, _ := labels[kube.LabelBlueprint].(string)
	labels[kube.LabelJobID] = kube.LabelValue(jobID)
	return values, blueprint.Blueprint{Name: name}
}
