package manifest

import (
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// What a blueprint may hold can be rendered, and every text comes out as it went in.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"plain", "", " ", "\n", "a\n---\nb: c", "{{ .Values }}", `"\x00`, "\x7f\u0085\u2028\ufeff\uffff", "\U0010ffff",
		"a: &b [*b]", "!!binary gA==",
		"\r\n\t", "'", `\`, "%s%d", "\u202e", "~", "null", "0x1F", "1e999", "é\u0301",
	} {
		f.Add(seed, "100m")
	}
	f.Add("x", "1e2147483647")
	f.Fuzz(func(t *testing.T, text, quantity string) {
		b := blueprint.Blueprint{
			Name: "dev", Image: "alpine", Splash: text, Env: map[string]string{"A": text},
			Resources:   blueprint.Resources{CPU: quantity},
			InitScripts: []blueprint.InitScript{{Name: "a", Script: text}},
			ExtFiles:    map[string]string{"/etc/" + text: "x", "/a": text},
			Apps:        map[string]any{text: text},
			Storages: map[string]blueprint.Storage{"a": {
				Type: blueprint.StorageMemory, Path: "/data/" + text,
				SizeLimit: quantity,
			}},
		}
		if len(b.Validate()) > 0 || strings.Contains(text, "<no value>") { // which Helm takes out of everything
			return
		}
		u, err := userstring.Parse("alice~dev")
		if err != nil {
			t.Fatal(err)
		}
		values, err := Spec{User: u, Namespace: "ns", Identity: identity.User{Username: "alice"}, Blueprint: b}.Values()
		if err != nil {
			t.Fatal(err)
		}
		rendered, err := release.Render(values)
		if err != nil {
			t.Fatalf("%q is accepted and cannot be rendered: %v", text, err)
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(kube.OfKind(rendered.Objects, "Pod").Object,
			&pod); err != nil {
			t.Fatal(err)
		}
		for _, e := range pod.Spec.Containers[0].Env {
			if e.Name == "A" && e.Value != text {
				t.Errorf("%q became %q", text, e.Value)
			}
		}
		found := false
		for _, object := range rendered.Objects {
			data, _, _ := unstructured.NestedStringMap(object.Object, "data")
			found = found || data["01-a"] == text
			for key, content := range data {
				if !utf8.ValidString(content) || strings.ContainsAny(key, "\x00/") {
					t.Errorf("%q: %q", key, content)
				}
			}
		}
		if !found {
			t.Errorf("%q is not the script any more", text)
		}
	})
}
