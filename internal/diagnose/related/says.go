package related

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// condition is one of an object.
type condition struct {
	kind, status, reason, message string
	at                            time.Time
}

// said are the conditions in the order in which they say something: what is wrong where it is True, then what has to
// become True, the first step before the ones that wait for it.
func said() (wrong, steps []string) {
	return []string{"Evicted", "Unschedulable", "Failed"},
		[]string{"Launched", "Registered", "Initialized", "QuotaReserved", "Admitted", "PodsReady"}
}

// Says is what an object says about itself that keeps a pod waiting; nil if it says nothing of the kind.
func Says(k kind, o *unstructured.Unstructured) *v1.Warning {
	object := kube.Object(k.name, o.GetName())
	if k.resource == secretClasses().resource {
		provider, _, _ := unstructured.NestedString(o.Object, "spec", "provider")
		if provider == "" {
			return nil
		}
		return &v1.Warning{
			Reason: "SecretProviderClass", Message: object + " is of provider " + provider, Object: object, Count: 1,
		}
	}
	if k.resource == deviceClaims().resource {
		if _, allocated, _ := unstructured.NestedMap(o.Object, "status", "allocation"); !allocated {
			return &v1.Warning{
				Reason: "NotAllocated", Message: object + ": no device is allocated to it", Object: object, Count: 1,
			}
		}
		return nil
	}
	c := telling(conditions(o))
	if c == nil {
		return nil
	}
	reason := c.kind
	if c.reason != "" && c.status == "True" {
		reason = c.reason
	}
	message := cmp.Or(c.message, c.kind+" is "+c.status)
	return &v1.Warning{Reason: reason, Message: object + ": " + message, Object: object, At: c.at, Count: 1}
}

// telling is the condition that says why something waits; nil if none does.
func telling(all []condition) *condition {
	wrong, steps := said()
	for _, kind := range wrong {
		if i := slices.IndexFunc(all, func(c condition) bool { return c.kind == kind && c.status == "True" }); i >= 0 {
			return &all[i]
		}
	}
	for _, kind := range steps {
		if i := slices.IndexFunc(all, func(c condition) bool { return c.kind == kind && c.status != "True" }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// isFinished is true for an object whose work is done.
func isFinished(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(conditions(o), func(c condition) bool {
		return c.kind == "Finished" && c.status == "True"
	})
}

// conditions are those of an object.
func conditions(o *unstructured.Unstructured) (all []condition) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		fields, is := item.(map[string]any)
		if !is {
			continue
		}
		text := func(key string) string { s, _ := fields[key].(string); return strings.TrimSpace(s) }
		at, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
		c := condition{text("type"), text("status"), text("reason"), text("message"), at}
		all = append(all, c)
	}
	return all
}
