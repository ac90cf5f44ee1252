package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
)

// What a blueprint does not say is the same for all, whatever it inherits from, if anything.
func TestDefaults(t *testing.T) {
	set, err := load(t, map[string]string{"a.yaml": `blueprints:
  - {name: plain, image: tools}
  - {name: bare, isTemplate: true, image: tools}
  - {name: child, template: bare, resources: {cpu: ~}}
  - {name: set, image: tools, helperImage: git, imagePullPolicy: Always, resources: {cpu: "1", memory: 1Gi}}
`})
	if err != nil {
		t.Fatal(err)
	}
	unset := map[string]string{
		"helperImage": "docker.io/alpine/git:v2.49.1", "imagePullPolicy": "IfNotPresent", "resources.cpu": "500m",
		"resources.memory": "512Mi",
	}
	for name, want := range map[string]map[string]string{
		"default": unset, "plain": unset, "child": unset,
		"set": {
			"helperImage": "docker.io/library/git", "imagePullPolicy": "Always", "resources.cpu": "1",
			"resources.memory": "1Gi",
		},
	} {
		b, err := resolve(t, set, Order{Name: name})
		if err != nil {
			t.Fatal(name, err)
		}
		got := map[string]string{
			"helperImage": b.HelperImage, "imagePullPolicy": b.ImagePullPolicy, "resources.cpu": b.Resources.CPU,
			"resources.memory": b.Resources.Memory,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for field := range want {
			if isDefault := b.Origins[field] == "default (built in)"; isDefault != (name != "set") {
				t.Errorf("%s: %s is from %q", name, field, b.Origins[field])
			}
		}
	}
}

// The default registry is for every image of a blueprint that names none.
func TestDefaultRegistry(t *testing.T) {
	set, err := load(t, map[string]string{"a.yaml": `blueprints:
  - {name: short, image: a, helperImage: b, k8shelld: {image: c}, podman: {enabled: true, image: d}}
  - name: full
    image: r.example.com/a
    helperImage: r.example.com/b
    k8shelld: {image: r.example.com/c}
    podman: {enabled: true, image: r.example.com/d}
  - {name: few, image: a}
`})
	if err != nil {
		t.Fatal(err)
	}
	images := func(b blueprint.Blueprint) []string {
		return []string{b.Image, b.HelperImage, b.K8shelld.Image, b.Podman.Image}
	}
	for _, test := range []struct {
		name, registry string
		want           []string
	}{
		{"short", "", []string{
			"docker.io/library/a", "docker.io/library/b", "docker.io/library/c",
			"docker.io/library/d",
		}},
		{"short", "our.example.com", []string{
			"our.example.com/a", "our.example.com/b", "our.example.com/c",
			"our.example.com/d",
		}},
		{"full", "our.example.com", []string{
			"r.example.com/a", "r.example.com/b", "r.example.com/c",
			"r.example.com/d",
		}},
		{"few", "our.example.com", []string{"our.example.com/a", "our.example.com/alpine/git:v2.49.1", "", ""}},
	} {
		b, err := resolve(t, set, Order{Name: test.name, Registry: test.registry})
		if err != nil {
			t.Fatal(test.name, err)
		}
		if diff := cmp.Diff(test.want, images(b)); diff != "" {
			t.Errorf("%s from %q: %s", test.name, test.registry, diff)
		}
	}
}
