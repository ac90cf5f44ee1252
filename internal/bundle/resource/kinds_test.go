package resource

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

func TestCheckName(t *testing.T) {
	for name, problem := range map[string]string{
		"shop": "", "a-1": "", strings.Repeat("x", 45): "",
		"": "is empty", strings.Repeat("x", 46): "46 characters", "Shop": "lower-case", "-a": "lower-case",
		"a.b": "lower-case",
	} {
		err := CheckName(name)
		if problem == "" && err != nil || problem != "" &&
			(fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A bundle is read by the class of its instance: that of an operator also for one of plain manifests, and that of
// another program as what the instance says it is. Any other pair is refused by name.
func TestReadAs(t *testing.T) {
	const plain, helm, registry, theirs = v1alpha1.ClassPlain, v1alpha1.ClassHelm, v1alpha1.ClassRegistry, "theirs"
	for pair, want := range map[[2]string]string{ // the classes of the instance and of the bundle
		{plain, plain}: plain, {helm, helm}: helm, {registry, registry}: registry,
		{plain, registry}: registry, {registry, plain}: "", {plain, helm}: "", {helm, plain}: "", {helm, registry}: "",
		{registry, helm}: "", {plain, theirs}: plain, {helm, theirs}: helm, {registry, theirs}: registry,
	} {
		in, b := &v1alpha1.Instance{}, &v1alpha1.Bundle{}
		in.Name, in.Spec.ProvisionerClassName, b.Spec.ProvisionerClassName = "shop", pair[0], pair[1]
		got, err := ReadAs(in, b)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %s, %v", pair, got, err)
		}
		if says := "instance shop is of class " + pair[0]; err != nil && (!strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "bundle of class "+pair[1]) || fault.From(err).Hint == "") {
			t.Errorf("%q: %v", pair, err)
		}
	}
}

func TestDefinitions(t *testing.T) {
	objects, err := Definitions()
	if err != nil || len(objects) != 2 {
		t.Fatal(objects, err)
	}
	for _, object := range objects {
		if !strings.HasSuffix(object.GetName(), "."+v1alpha1.Group) || object.GetKind() != "CustomResourceDefinition" {
			t.Errorf("%s %s", object.GetKind(), object.GetName())
		}
	}
}
