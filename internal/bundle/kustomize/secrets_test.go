package kustomize_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

// Nothing that may be secret is in a message: it says where that is.
func TestNoSecretsInMessages(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		says  string
	}{
		"a login in a URL": {
			map[string]string{"kustomization.yaml": "resources: ['https://me:s3cret@example.com/a.yaml']\n"},
			"kustomization.yaml: resources: https://example.com/a.yaml would be fetched",
		},
		"the query of a URL": {
			map[string]string{"kustomization.yaml": "patches: [{path: 'https://example.com/a.yaml?token=s3cret'}]\n"},
			"kustomization.yaml: patches: https://example.com/a.yaml would be fetched",
		},
		"a login without a scheme": {
			map[string]string{"kustomization.yaml": "resources: ['git::s3cret@example.com/a.git?x=s3cret']\n"},
			"kustomization.yaml: resources: git::example.com/a.git would be fetched",
		},
		"a login of SSH": {
			map[string]string{"kustomization.yaml": "resources: ['s3cret@example.com:a/b.git']\n"},
			"kustomization.yaml: resources: example.com:a/b.git would be fetched",
		},
		"a URL that is no more than a path": {
			map[string]string{"kustomization.yaml": "resources: ['s3://me:s3cret@bucket/a?b=s3cret']\n"},
			"kustomization.yaml: resources: s3://bucket/a is not in the bundle",
		},
		"a URL in what is built in": {
			map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n",
				"t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\n" +
					"path: 'http://me:s3cret@127.0.0.1/p.yaml?token=s3cret'\n",
			},
			"http://127.0.0.1/p.yaml would be fetched",
		},
		"not a patch": {
			map[string]string{"kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: 's3cret \"] s3cret'}]\n"},
			"unable to parse SM or JSON patch from patches[0] of kustomization.yaml",
		},
		"one of a base": {
			map[string]string{
				"kustomization.yaml":   "resources: [b]\n",
				"b/kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: 's3cret \"] s3cret'}]\n",
				"b/a.yaml":             service,
			},
			"b/kustomization.yaml",
		},
		"a patch without a target": {
			map[string]string{"kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: |-\n" +
				"    - {op: replace, path: /spec, value: s3cret}\n"},
			"must specify a target for JSON patch patches[0] of kustomization.yaml",
		},
		"a patch with a path": {
			map[string]string{
				"kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml, patch: '{a: s3cret}'}]\n",
				"p.yaml":             service,
			},
			"a patch has both a text and a path",
		},
		"not a literal": {
			map[string]string{"kustomization.yaml": "secretGenerator: [{name: a, literals: [a=b, s3cret]}]\n"},
			"kustomization.yaml: secretGenerator: literals[1] of a is not KEY=VALUE",
		},
		"a generator of what is there": {
			map[string]string{"kustomization.yaml": "secretGenerator: [{name: a, literals: [a=s3cret], options: " +
				"{disableNameSuffixHash: true}}, {name: a, literals: [a=s3cret, 'b=}: ']}]\n"},
			"merging from a generator: ",
		},
		"a generator in the kustomization": {
			map[string]string{"kustomization.yaml": "generators:\n- |-\n  apiVersion: builtin\n" +
				"  kind: SecretGenerator\n  metadata: {name: g}\n  literals: [\"it's //s3cret\"\n"},
			"accumulating resources from 'generators[0] of kustomization.yaml'",
		},
		"a generator of what is built in": {
			map[string]string{
				"kustomization.yaml": "generators: [g.yaml]\n",
				"g.yaml": "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: g}\n" +
					"literals: [s3cret]\n",
			},
			"a literal is not KEY=VALUE",
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.files["a.yaml"] = service
			_, err := kustomize.Build(t.Context(), content(test.files), kustomize.Limits{})
			said := strings.Join(append(problems(t, err), fault.From(err).Hint), "\n")
			if strings.Contains(said, "s3cret") || !strings.Contains(said, test.says) {
				t.Errorf("%s, want %s", said, test.says)
			}
		})
	}
}
