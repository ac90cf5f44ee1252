package installer

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/fault"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// What berth runs on is left alone, wherever a bundle names it; all else is its own.
func TestReserved(t *testing.T) {
	const rbac, extensions = "rbac.authorization.k8s.io/v1", "apiextensions.k8s.io/v1"
	subject := func(s string) string {
		return "{apiVersion: " + rbac +
			", kind: RoleBinding, metadata: {name: b, namespace: shop}, subjects: [{kind: Group, name: shop}, " + s +
			"]}"
	}
	for name, test := range map[string]struct{ object, namespace, says string }{
		"an object elsewhere": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}",
			"berth", "",
		},
		"an object in the system namespace": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: berth}}",
			"shop", "secret/a is of the system namespace berth",
		},
		"one that names no namespace": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}}", "berth",
			"secret/a is of the system namespace",
		},
		"one in no namespace": {"{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}}", "berth", ""},
		"one of a kind that is not known": {
			"{apiVersion: x/v1, kind: Boat, metadata: {name: a}}", "berth",
			"boat/a is of the system namespace",
		},
		"the system namespace": {
			"{apiVersion: v1, kind: Namespace, metadata: {name: berth}}", "shop",
			"namespace/berth is of",
		},
		"another namespace": {"{apiVersion: v1, kind: Namespace, metadata: {name: shop}}", "berth", ""},
		"another group's Namespace": {
			"{apiVersion: x/v1, kind: Namespace, metadata: {name: berth, namespace: shop}}",
			"shop", "",
		},
		"the definition of bundles": {
			"{apiVersion: " + extensions +
				", kind: CustomResourceDefinition, metadata: {name: bundles.core.rukpak.io}}", "shop",
			"defines the API of bundles",
		},
		"another of the group": {
			"{apiVersion: " + extensions +
				", kind: CustomResourceDefinition, metadata: {name: x}, spec: {group: core.rukpak.io}}", "shop",
			"defines the API of bundles",
		},
		"another definition": {"{apiVersion: " + extensions +
			", kind: CustomResourceDefinition, metadata: {name: boats.x}, spec: {group: x}}", "shop", ""},
		"an API service": {"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: " +
			"v1alpha1.core.rukpak.io}}", "shop", "defines the API of bundles"},
		"a role of berth": {"{apiVersion: " + rbac +
			", kind: ClusterRole, metadata: {name: berth-gateway}}", "shop", "berth's own"},
		"a role for users of berth": {"{apiVersion: " + rbac +
			", kind: ClusterRole, metadata: {name: bundle-reader}}", "shop", "berth's own"},
		"a policy of berth": {"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, " +
			"metadata: {name: berth-bundles-instances}}", "shop", "berth's own"},
		"another role": {
			"{apiVersion: " + rbac + ", kind: ClusterRole, metadata: {name: shop}}",
			"shop", "",
		},
		"a ConfigMap with such a name": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: berth-x, namespace: shop}}",
			"shop", "",
		},
		"a binding of the server": {
			subject("{kind: ServiceAccount, name: berth-bundles, namespace: berth}"),
			"shop", "gives rights to a ServiceAccount",
		},
		"a binding of the server as a user": {
			subject("{kind: User, name: 'system:serviceaccount:berth:berth-bundles'}"),
			"shop", "gives rights to a ServiceAccount",
		},
		"a binding of the server as a group": {
			subject("{kind: Group, name: 'system:serviceaccounts:berth'}"), "shop",
			"gives rights to a ServiceAccount",
		},
		"a binding of others": {
			subject("{kind: ServiceAccount, name: berth-bundles, namespace: berth-2}"),
			"shop", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := []*unstructured.Unstructured{object(t, test.object)}
			err := Reserved{System: "berth"}.Check(all, test.namespace)
			if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if n := len((Reserved{System: "berth"}).Allowed(all, test.namespace)); (n == 0) != (test.says != "") {
				t.Errorf("%d are allowed", n)
			}
			if err := (Reserved{}).Check(all, test.namespace); err != nil {
				t.Errorf("nothing is reserved: %v", err)
			}
		})
	}
}

// Objects are in the system namespace because the instance names no other: that is what to
// mend, also once their namespace is filled in.
func TestHintAboutTheNamespace(t *testing.T) {
	for name, test := range map[string]struct{ object, namespace, hint string }{
		"none, and the instance none": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}}", "berth",
			"spec.config.namespace",
		},
		"filled in": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: berth}}",
			"berth", "spec.config.namespace",
		},
		"the system's, of its own accord": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: berth}}", "shop",
			"take them out",
		},
	} {
		err := Reserved{System: "berth"}.Check([]*unstructured.Unstructured{object(t, test.object)}, test.namespace)
		if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.Hint, test.hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
