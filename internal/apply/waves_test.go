package apply

import (
	"strings"
	"testing"
)

// What may need its controller goes before it, and namespaces are last.
func TestStages(t *testing.T) {
	objects := parse(t, `{apiVersion: v1, kind: Namespace, metadata: {name: namespace}}
{apiVersion: apps/v1, kind: Deployment, metadata: {name: controller}}
{apiVersion: v1, kind: ServiceAccount, metadata: {name: account}}
{apiVersion: example.org/v1, kind: Boat, metadata: {name: boat}}
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: webhook}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boats.example.org}, `+
		`spec: {group: example.org, names: {kind: Boat, plural: boats}, versions: [{name: v1}]}}`)
	var got []string
	for _, stage := range Stages(objects) {
		var names []string
		for _, object := range stage {
			names = append(names, object.GetName())
		}
		got = append(got, strings.Join(names, " "))
	}
	if text := strings.Join(got, "; "); text != "boat webhook boats.example.org; controller account; namespace" {
		t.Error(text)
	}
	for i, kind := range []bool{3: true, 5: false} {
		if got := Defines(objects, objects[i].GroupVersionKind()); got != kind {
			t.Errorf("%s is defined: %t", objects[i].GetName(), got)
		}
	}
}
