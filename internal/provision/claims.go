package provision

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// warnOfClaims tells of claims that were there and are not as the blueprint now
// wants them: what a claim asks for is settled when it is made.
func (r *run) warnOfClaims(wanted, have []*unstructured.Unstructured) {
	for i, claim := range wanted {
		if claim.GetKind() != "PersistentVolumeClaim" || have[i] == nil {
			continue
		}
		changes := claimChanges(claim, have[i])
		if len(changes) == 0 {
			continue
		}
		r.steps.Warning(v1.Warning{
			Reason: "ClaimSpecChanged", Count: 1, Object: kube.Object("persistentvolumeclaim", claim.GetName()), At: r.Now(),
			Message: fmt.Sprintf("storage %s stays as it is: %s", storageOf(r.rendered.Values, claim.GetName()), strings.Join(changes, "; ")),
		})
	}
}

// storageOf is the name of the storage that a claim is for.
func storageOf(values map[string]any, claim string) string {
	all, _ := values["storages"].([]any)
	for _, storage := range all {
		if s, _ := storage.(map[string]any); s["claim"] == claim {
			return fmt.Sprint(s["name"])
		}
	}
	return claim
}

// claimChanges are the fields in which an existing claim is not what is wanted.
// What is not wanted in particular, the API server has filled in.
func claimChanges(wanted, have *unstructured.Unstructured) []string {
	return differences("claimSpec", jsonValue(wanted.Object["spec"]), jsonValue(have.Object["spec"]))
}

func differences(path string, wanted, have any) (all []string) {
	fields, isMap := wanted.(map[string]any)
	if isMap {
		current, _ := have.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all = append(all, differences(path+"."+name, fields[name], current[name])...)
		}
		return all
	}
	if reflect.DeepEqual(wanted, have) || sameQuantity(wanted, have) {
		return nil
	}
	if have == nil {
		return []string{fmt.Sprintf("%s is not set, the blueprint says %v", path, wanted)}
	}
	return []string{fmt.Sprintf("%s is %v, the blueprint says %v", path, have, wanted)}
}

func sameQuantity(a, b any) bool {
	if b == nil {
		return false
	}
	x, err := resource.ParseQuantity(fmt.Sprint(a))
	if err != nil {
		return false
	}
	y, err := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && x.Cmp(y) == 0
}
