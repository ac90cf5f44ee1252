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
