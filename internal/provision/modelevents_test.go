package provision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
)

// modelEvents are what may happen to a workspace beside what is done with it.
func modelEvents() map[string]func(m *model, id string) {
	state := func(id string) string { return "/api/v1/namespaces/dev/configmaps/berth-state-" + id }
	locked := func(purpose string) func(*model, string) {
		return func(m *model, id string) {
			now := metav1.NowMicro().UTC().Format(metav1.RFC3339Micro)
			lease := fmt.Sprintf(`{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
				"metadata": {"name": "berth-%s", "annotations": {"berth.dev/purpose": %q}},
				"spec": {"holderIdentity": "bob@elsewhere/1/1/x", "leaseDurationSeconds": 15,
					"acquireTime": %q, "renewTime": %q}}`, id, purpose, now, now)
			const leases = "/apis/coordination.k8s.io/v1/namespaces/dev/leases"
			if _, err := m.create(leases, []byte(lease), false); err != nil {
				panic(err)
			}
		}
	}
	return map[string]func(*model, string){
		"lose its record": func(m *model, id string) { // it has no record of its desired state
			if m.objects[state(id)] != nil {
				m.forget(state(id))
			}
		},
		// As berth recorded it before it could start what is stopped.
		"lose its recorded values": func(m *model, id string) {
			if record := m.objects[state(id)]; record != nil {
				record = record.DeepCopy()
				r, err := recordIn(record)
				if err != nil {
					panic(err)
				}
				r.Values = ""
				text, err := json.Marshal(r)
				if err != nil {
					panic(err)
				}
				_ = unstructured.SetNestedField(record.Object, string(text), "data", "record")
				m.put(state(id), record)
			}
		},
		"damage its record": func(m *model, id string) { // its record cannot be read
			if record := m.objects[state(id)]; record != nil {
				record = record.DeepCopy()
				_ = unstructured.SetNestedField(record.Object, "{", "data", "record")
				m.put(state(id), record)
			}
		},
		"damage Helm's record": func(m *model, id string) {
			at := "/api/v1/namespaces/dev/secrets/sh.helm.release.v1." + id + ".v1"
			if secret := m.objects[at]; secret != nil {
				secret = secret.DeepCopy()
				_ = unstructured.SetNestedField(secret.Object, "", "data", "release")
				m.put(at, secret)
			}
		},
		"lose all but its record": func(m *model, id string) { // somebody else has deleted all but its record
			for name, o := range maps.Clone(m.objects) {
				if name != state(id) && (strings.Contains(o.GetName(), id) ||
					o.GetLabels()[kube.LabelCanonicalID] == id) {
					m.forget(name)
				}
			}
		},
		"make its pod hang":         func(m *model, _ string) { m.holds = true },
		"lock by another provision": locked(deploy.ForProvisioning),
		"lock by another delete":    locked(deploy.ForDeleting),
	}
}

// summary is what there is of a workspace: objects by their kinds, and its desired state.
func (m *model) summary(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	count := map[string]int{}
	for _, o := range m.objects {
		switch {
		case !strings.Contains(o.GetName(), id) && o.GetLabels()[kube.LabelCanonicalID] != id:
		case o.GetLabels()[lifecycle.Label] != "" || strings.HasPrefix(o.GetName(), "berth-state-"):
		case o.GetLabels()[kube.LabelKept] != "":
			count[o.GetKind()+" kept"]++
		default:
			count[o.GetKind()]++
		}
	}
	all := []string{}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		all = append(all, fmt.Sprintf("%d %s", count[kind], kind))
	}
	if record := m.objects["/api/v1/namespaces/dev/configmaps/berth-state-"+id]; record != nil {
		r, err := recordIn(record)
		if err != nil {
			all = append(all, "a record that cannot be read")
		} else {
			all = append(all, fmt.Sprintf("meant to be %s, recorded as %s", r.Desired, r.Actual))
		}
		if r.KeepStorage {
			all = append(all, "its storage to be kept")
		}
	}
	return "there: " + cmp.Or(strings.Join(all, ", "), "nothing")
}

// recordIn is what a ConfigMap records of a workspace.
func recordIn(configMap *unstructured.Unstructured) (r lifecycle.Record, err error) {
	text, _, _ := unstructured.NestedString(configMap.Object, "data", "record")
	err = json.Unmarshal([]byte(text), &r)
	return r, err
}
