package machine

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

func TestArgument(t *testing.T) {
	for text, want := range map[string]struct {
		name    string
		is, bad bool
	}{
		"machine/web":         {name: "web", is: true},
		"machine/web.1-a":     {name: "web.1-a", is: true},
		"machine":             {},
		"alice~dev":           {},
		"id/machine":          {},
		"Machine/web":         {},
		"machine/":            {is: true, bad: true},
		"machine/..":          {is: true, bad: true},
		"machine/web/exec":    {is: true, bad: true},
		"machine/web%2f..":    {is: true, bad: true},
		"machine/web?x=y":     {is: true, bad: true},
		"machine/Web":         {is: true, bad: true},
		"machine/machine/web": {is: true, bad: true},
	} {
		name, is, err := Argument(text)
		if name != want.name || is != want.is || (err != nil) != want.bad || want.bad &&
			fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %q, %t, %v", text, name, is, err)
		}
		if _, err := userstring.Parse(text); is && err == nil {
			t.Errorf("%s is a user string, too", text)
		}
	}
}

// What a machine is called where it runs is the ID that its status has, if that is a name at all.
func TestReadMachine(t *testing.T) {
	for id, want := range map[string]string{
		"machinebroker://0563": "0563", "libvirt-provider://a.b-1": "a.b-1",
		"": "", "0563": "", "machinebroker://": "", "machinebroker://../x": "", "machinebroker://A": "",
		"a://b://c": "",
	} {
		m, err := ReadMachine(&unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{
				"name": "web", "namespace": "ns", "uid": "u",
				"labels": map[string]any{"machinepoollet.ironcore.dev/machine-uid": "of"},
			},
			"spec":   map[string]any{"machinePoolRef": map[string]any{"name": "east"}},
			"status": map[string]any{"machineID": id},
		}})
		if (m != Machine{Namespace: "ns", Name: "web", UID: "u", Pool: "east", ID: id, OfUID: "of"}) || err != nil {
			t.Errorf("%+v, %v", m, err)
		}
		if got := m.AtBroker(); got != want {
			t.Errorf("%q is called %q, want %q", id, got, want)
		}
		if _, own, _ := strings.Cut(id, "://"); m.AtRuntime() != own {
			t.Errorf("%q is %q at its runtime", id, m.AtRuntime())
		}
	}
}
