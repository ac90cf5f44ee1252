package doctor

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
)

// amounts reads "cpu=1 memory=2Gi".
func amounts(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for word := range strings.FieldsSeq(text) {
		name, quantity, _ := strings.Cut(word, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return list
}

func quotaOf(hard, used string) []corev1.ResourceQuota {
	q := corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Hard: amounts(hard), Used: amounts(used)}}
	q.Name = "small"
	return []corev1.ResourceQuota{q}
}

func limitsOf(item corev1.LimitRangeItem) []corev1.LimitRange {
	return []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}}
}

// A blueprint that asks for 500m of CPU, 1Gi of memory and a claim of 5Gi.
func TestFits(t *testing.T) {
	b := blueprint.Blueprint{
		Name: "default", Resources: blueprint.Resources{CPU: "500m", Memory: "1Gi"},
		Storages: map[string]blueprint.Storage{
			"home": {
				Type:      blueprint.StorageLocal,
				ClaimSpec: map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": "5Gi"}}},
			},
			"there": {Type: blueprint.StorageLocal, ExistingClaim: "pvc-there"},
			"tmp":   {Type: blueprint.StorageEmptyDir},
		},
	}
	withPodman := b
	withPodman.Podman = blueprint.Podman{Enabled: true, Resources: blueprint.Resources{CPU: "1", Memory: "2Gi"}}
	silent := b
	silent.Resources = blueprint.Resources{CPU: "${{ user.cpu }}"}
	scoped := quotaOf("pods=0", "")
	scoped[0].Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}
	container, pod, claim := corev1.LimitTypeContainer, corev1.LimitTypePod, corev1.LimitTypePersistentVolumeClaim
	for name, c := range map[string]struct {
		of     blueprint.Blueprint
		quotas []corev1.ResourceQuota
		ranges []corev1.LimitRange
		want   v1.CheckupStatus
		says   string
	}{
		"nothing is limited": {b, nil, nil, v1.CheckupOK, ""},
		"exactly": {
			b,
			quotaOf("pods=2 cpu=1 requests.memory=2Gi limits.memory=2Gi requests.storage=6Gi",
				"pods=1 cpu=500m requests.memory=1Gi limits.memory=1Gi requests.storage=1Gi"), nil, v1.CheckupOK, "",
		},
		"no room now": {
			b, quotaOf("requests.cpu=1", "requests.cpu=700m"), nil, v1.CheckupWarning,
			"quota small has 300m requests.cpu left of 1, it asks for 500m",
		},
		"never": {
			b, quotaOf("limits.memory=512Mi", ""), nil, v1.CheckupFailed,
			"quota small allows 512Mi limits.memory, it asks for 1Gi",
		},
		"no pod now": {
			b, quotaOf("pods=1", "pods=1"), nil, v1.CheckupWarning,
			"quota small has 0 pods left of 1",
		},
		"the sidecar counts": {withPodman, quotaOf("memory=2Gi", ""), nil, v1.CheckupFailed, "it asks for 3Gi"},
		"claims":             {b, quotaOf("persistentvolumeclaims=0", ""), nil, v1.CheckupFailed, "it asks for 1"},
		"storage":            {b, quotaOf("requests.storage=4Gi", ""), nil, v1.CheckupFailed, "it asks for 5Gi"},
		"a limit that is not set": {
			b, quotaOf("limits.cpu=10", ""), nil, v1.CheckupFailed,
			"requires limits.cpu of each container, and k8shell-main sets none",
		},
		"a default sets it": {
			b, quotaOf("limits.cpu=10", ""),
			limitsOf(corev1.LimitRangeItem{Type: container, Default: amounts("cpu=2")}), v1.CheckupOK, "",
		},
		"a default that is too much": {
			b, quotaOf("limits.cpu=1", ""),
			limitsOf(corev1.LimitRangeItem{Type: container, Default: amounts("cpu=2")}), v1.CheckupFailed,
			"it asks for 2",
		},
		"a limit is the request": {
			silent, quotaOf("requests.memory=1Gi", ""),
			limitsOf(corev1.LimitRangeItem{Type: container, Default: amounts("memory=2Gi")}), v1.CheckupFailed,
			"it asks for 2Gi",
		},
		"not what was computed": {
			silent, quotaOf("requests.cpu=1", ""),
			limitsOf(corev1.LimitRangeItem{Type: container, DefaultRequest: amounts("cpu=100m")}), v1.CheckupOK, "",
		},
		"for other pods":  {b, scoped, nil, v1.CheckupOK, ""},
		"of another kind": {b, quotaOf("services.loadbalancers=0", ""), nil, v1.CheckupOK, ""},
		"too large a container": {
			b, nil,
			limitsOf(corev1.LimitRangeItem{Type: container, Max: amounts("memory=512Mi")}), v1.CheckupFailed,
			"k8shell-main may have at most 512Mi memory, it asks for 1Gi",
		},
		"too small a container": {
			b, nil, limitsOf(corev1.LimitRangeItem{Type: container, Min: amounts("cpu=1")}),
			v1.CheckupFailed, "k8shell-main may have at least 1 cpu",
		},
		"too large a pod": {
			withPodman, nil,
			limitsOf(corev1.LimitRangeItem{Type: pod, Max: amounts("memory=2Gi")}), v1.CheckupFailed,
			"the pod may have at most 2Gi memory, it asks for 3Gi",
		},
		"too large a claim": {
			b, nil, limitsOf(corev1.LimitRangeItem{Type: claim, Max: amounts("storage=1Gi")}),
			v1.CheckupFailed, "storage home may have at most 1Gi storage",
		},
		"within the limits of ranges": {
			b, nil,
			limitsOf(corev1.LimitRangeItem{
				Type: container, Max: amounts("cpu=1 memory=1Gi"),
				Min: amounts("cpu=500m"),
			}),
			v1.CheckupOK, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := Fits(AsksOf(c.of), c.quotas, c.ranges)
			if f.Status != c.want || !strings.Contains(strings.Join(f.Problems, "\n"), c.says) ||
				(c.says == "") != (len(f.Problems) == 0) {
				t.Errorf("%+v", f)
			}
			if (f.Status == v1.CheckupOK) != (f.Hint == "") {
				t.Errorf("the hint of %+v", f)
			}
		})
	}
}
