package manifest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart/manifest"
)

// crontab is the schema of spec of a kind that some definition defines.
const crontab = `
type: object
properties:
  schedule: {type: string}
  replicas: {type: integer}
  ratio: {type: number}
  paused: {type: boolean}
  port: {x-kubernetes-int-or-string: true}
  any: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: string}}}
  limits: {type: object, additionalProperties: {type: string}}
  names: {type: array, items: {type: string}, x-kubernetes-list-type: set}
  words: {type: array, items: {type: string}}
  ports:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [port, protocol]
    items:
      type: object
      properties: {port: {type: integer}, protocol: {type: string, default: TCP}, name: {type: string}}
`

// defined is the definition of the kind CronTab.
func defined(t *testing.T) string {
	t.Helper()
	top := map[string]any{}
	if err := yaml.Unmarshal([]byte(crontab), &top); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "crontabs.example.com"},
		"spec": map[string]any{
			"group": "example.com", "names": map[string]any{"kind": "CronTab", "plural": "crontabs"},
			"versions": []any{map[string]any{
				"name": "v1",
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": top},
				}},
			}, map[string]any{"name": "v2"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n---\n"
}

// server has the types of server-side apply for that definition.
func server(t *testing.T) managedfields.TypeConverter {
	t.Helper()
	const top = `{"type": "object", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1",
		"kind": "CronTab"}], "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"},
		"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}, "spec": SPEC}}`
	inner, err := yaml.YAMLToJSON([]byte(crontab))
	if err != nil {
		t.Fatal(err)
	}
	of := &spec.Schema{}
	if err := json.Unmarshal([]byte(strings.Replace(top, "SPEC", string(inner), 1)), of); err != nil {
		t.Fatal(err)
	}
	types, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"com.example.v1.CronTab": of}, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// What server-side apply would refuse of a custom resource goes or is refused before anything is written, as the
// definition in the bundle says it; what it takes stays.
func TestConform(t *testing.T) {
	const twice = ", which its definition does not let"
	types := server(t)
	for name, test := range map[string]struct {
		spec    string
		says    string // what is dropped
		refused string
		taken   bool // by server-side apply, as it is written
	}{
		"as it should be": {
			spec: "{schedule: x, replicas: 2, ratio: 0.5, paused: true, limits: {cpu: a}, words: [a, a]}", taken: true,
		},
		"anything":          {spec: "{any: {what: {ever: 1}, known: a}}", taken: true},
		"a number or text":  {spec: "{port: http}", taken: true},
		"a number, or that": {spec: "{port: 80}", taken: true},
		"nothing":           {spec: "{schedule: null}", taken: true},
		"an unknown field":  {spec: "{shedule: x}", says: "spec.shedule is not a field, and is left out"},
		"one further down": {
			spec: "{ports: [{port: 1, nam: a}]}",
			says: "spec.ports[0].nam is not a field, and is left out",
		},
		"one port, two names": {
			spec:    "{ports: [{port: 1, name: a}, {port: 1, name: b}]}",
			refused: "spec.ports has port 1, protocol TCP more than once" + twice,
		},
		"one port by default": {
			spec:    "{ports: [{port: 1}, {port: 1, protocol: TCP}]}",
			refused: "spec.ports has port 1, protocol TCP more than once" + twice,
		},
		"one port, protocols": {spec: "{ports: [{port: 1}, {port: 1, protocol: UDP}]}", taken: true},
		"a name twice": {
			spec:    "{names: [a, b, a]}",
			refused: `spec.names has "a" more than once` + twice,
		},
		"a list for a mapping": {spec: "{limits: [a]}", refused: "spec.limits must be a mapping, is a list"},
		"a number for text":    {spec: "{schedule: 5}", refused: "spec.schedule must be text: quote it, is a number"},
		"text for a number":    {spec: "{replicas: '5'}", refused: "spec.replicas must be a whole number, is text"},
		"text in a mapping": {
			spec:    "{limits: {cpu: 1}}",
			refused: "spec.limits.cpu must be text: quote it, is a number",
		},
		"a text for a choice": {spec: "{paused: 'true'}", refused: "spec.paused must be true or false, is text"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &manifest.Reader{Fits: true}
			object := "{apiVersion: example.com/v1, kind: CronTab, metadata: {name: a}, spec: " + test.spec + "}"
			r.Read("f.yaml", []byte(defined(t)+object))
			written := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(object), &written.Object); err != nil {
				t.Fatal(err)
			}
			if _, err := types.ObjectToTyped(written); (err == nil) != test.taken {
				t.Errorf("server-side apply says: %v", err)
			}
			changed := r.Conform()
			const at = "f.yaml:3: CronTab a: "
			if test.refused != "" {
				if want := []string{at + test.refused}; !slices.Equal(r.Problems(), want) {
					t.Errorf("refuses %q", r.Problems())
				}
				return
			}
			if len(r.Problems()) > 0 || changed[1] != (test.says != "") {
				t.Errorf("%q, changed %v", r.Problems(), changed)
			}
			want := test.says
			if want != "" {
				want = at + want
			}
			if got := strings.Join(r.Warnings(), "; "); got != want {
				t.Errorf("says %q", got)
			}
			objects, _ := r.Objects()
			if _, err := types.ObjectToTyped(objects[1]); err != nil {
				t.Errorf("what is applied is refused: %v", err)
			}
		})
	}
}

// Objects whose fields are not compared are named, with the reason: no object is taken for valid because its kind is
// not known.
func TestUnknown(t *testing.T) {
	for name, test := range map[string]struct {
		object    string
		newer     bool
		want      string
		elsewhere bool
	}{
		"a kind of Kubernetes":   {object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"},
		"a kind that is defined": {object: "{apiVersion: example.com/v1, kind: CronTab, metadata: {name: a}}"},
		"a version that takes all": {
			object: "{apiVersion: example.com/v2, kind: CronTab, metadata: {name: a}}",
			want:   "its definition takes any field",
		},
		"a version that is not": {
			object: "{apiVersion: example.com/v3, kind: CronTab, metadata: {name: a}}",
			want:   "the definition of its kind in the bundle has no version v3",
		},
		"a kind of others": {
			object: "{apiVersion: example.org/v1, kind: Web, metadata: {name: a}}",
			want:   "the definition of its kind is not in the bundle", elsewhere: true,
		},
		"a kind of Kubernetes of which no fields are known": {
			object: "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: a}}",
			want:   "berth does not know the fields of kind APIService of apiregistration.k8s.io/v1",
		},
		"a kind of another Kubernetes": {
			object: "{apiVersion: apps/v9, kind: Deployment, metadata: {name: a}}",
			want:   "berth does not know the fields of kind Deployment of apps/v9",
		},
		"a field of a newer cluster": {
			object: "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {soon: 1}}", newer: true,
			want: "the cluster is newer than berth, which does not know the fields spec.soon",
		},
	} {
		r := &manifest.Reader{Fits: true, Newer: test.newer}
		r.Read("f.yaml", []byte(defined(t)+test.object))
		r.Conform()
		var got string
		var elsewhere bool
		for _, u := range r.Unknown() {
			if !manifest.IsDefinition(u.Object) { // its own fields are not known either
				got, elsewhere = u.Reason, u.Elsewhere
			}
		}
		if got != test.want || elsewhere != test.elsewhere || len(r.Problems()) > 0 {
			t.Errorf("%s: %q, %v, %q", name, got, elsewhere, r.Problems())
		}
	}
}

// A definition is what others wrote: whatever it says, it is read.
func FuzzConform(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"spec": {"type": "array", "items": {"type": "object"}}}}`, `{"a": [1]}`)
	f.Add(`{"properties": {"spec": 5}}`, `[]`)
	f.Add(`{"type": "object", "properties": {"spec": {"type": "array", "x-kubernetes-list-type": "map",
		"x-kubernetes-list-map-keys": [1, {}], "items": 7}}}`, `[{"a": 1}, {"": null}, 5]`)
	f.Fuzz(func(_ *testing.T, schema, content string) {
		r := &manifest.Reader{Fits: true}
		r.Read("f.yaml", []byte(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": {"name": "a"}, "spec": {"group": "example.com", "names": {"kind": "A"}, "versions": [
			{"name": "v1", "schema": {"openAPIV3Schema": `+schema+`}}]}}`))
		r.Read("f.yaml", []byte(`{"apiVersion": "example.com/v1", "kind": "A", "metadata": {"name": "a"}, "spec": `+
			content+`}`))
		r.Conform()
	})
}
