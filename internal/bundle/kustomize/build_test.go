package kustomize_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/berthdev/berth/internal/bundle/kustomize"
)

// What is built of the content of a bundle is what kustomize builds of the same files in a directory, to the byte.
func TestBuildsAsKustomizeDoes(t *testing.T) {
	base := map[string]string{
		"base/kustomization.yaml": "resources: [deployment.yaml, service.yaml]\n" +
			"configMapGenerator: [{name: settings, literals: ['A=https://example.com/?ref=x', B=2], files: " +
			"[conf/a.ini, key=conf/a.ini]}]\n" +
			"secretGenerator: [{name: login, envs: [login.env]}]\n",
		"base/deployment.yaml": deployment, "base/service.yaml": service, "base/conf/a.ini": "x=\x01\xff\n",
		"base/login.env": "USER=alice\nPASSWORD=secret\n",
	}
	for name, files := range map[string]map[string]string{
		"a base alone": {"kustomization.yaml": "resources: [base]\n"},
		"names, namespace, labels and annotations": {
			"kustomization.yaml": "resources: [base]\nnamePrefix: a-\nnameSuffix: -z\nnamespace: shop\n" +
				"labels: [{pairs: {team: x}, includeSelectors: true}]\ncommonAnnotations: {see: https://example.com}\n",
		},
		"images and replicas": {
			"kustomization.yaml": "resources: [base]\nimages: [{name: example.com/web, newName: " +
				"other.example.com/web, digest: " +
				"sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3}]\nreplicas: [{name: web, " +
				"count: 3}]\n",
		},
		"patches of all kinds": {
			"kustomization.yaml": "resources: [base]\npatches:\n- path: p.yaml\n- target: {kind: Service}\n  patch: " +
				"|-\n" +
				"    - {op: replace, path: /spec/ports/0/port, value: 81}\n" +
				"patchesStrategicMerge:\n- |-\n  {apiVersion: v1, kind: Service, metadata: {name: web}, spec: " +
				"{type: NodePort}}\n" +
				"patchesJson6902: [{path: j.json, target: {version: v1, kind: Service, name: web}}]\n",
			"p.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: " +
				"{containers: " +
				"[{name: web, args: [x]}, {name: side, image: side}]}}}\n",
			"j.json": `[{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]`,
		},
		"replacements": {
			"kustomization.yaml": "resources: [base]\nreplacements:\n- source: {kind: Service, name: web, " +
				"fieldPath: metadata.name}\n" +
				"  targets: [{select: {kind: Deployment}, fieldPaths: " +
				"['spec.template.spec.containers.[name=web].env.[name=HOST].value']}]\n" +
				"- path: r.yaml\n",
			"r.yaml": "source: {kind: Service, name: web, fieldPath: spec.ports.0.port}\n" +
				"targets: [{select: {kind: Deployment}, fieldPaths: [spec.minReadySeconds], options: {create: " +
				"true}}]\n",
		},
		"components, and a base above": {
			"kustomization.yaml": "resources: [overlays/prod]\n",
			"overlays/prod/kustomization.yaml": "resources: [../../base, ns.yaml]\ncomponents: " +
				"[../../parts/metrics]\n" +
				"configMapGenerator: [{name: settings, behavior: merge, literals: [B=3]}]\n",
			"overlays/prod/ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
			"parts/metrics/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" +
				"patches: [{target: {kind: Deployment}, patch: '[{\"op\": \"add\", \"path\": " +
				"\"/metadata/annotations\", \"value\": {\"scrape\": \"true\"}}]'}]\n",
		},
		"one base twice": {
			"kustomization.yaml": "resources: [a, b]\n", "a/kustomization.yaml": "resources: [../base]\nnamePrefix: " +
				"a-\n",
			"b/Kustomization": "bases: [../base]\nnamePrefix: b-\n",
		},
		"transformers and generators that are built in": {
			"kustomization.yaml": "resources: [base]\ntransformers:\n- t.yaml\n- |-\n  {apiVersion: builtin, kind: " +
				"PrefixSuffixTransformer, " +
				"metadata: {name: x}, prefix: in-, fieldSpecs: [{path: metadata/name}]}\ngenerators: [g.yaml]\n",
			"t.yaml": "apiVersion: builtin\nkind: NamespaceTransformer\nmetadata: {name: t, namespace: shop}\n" +
				"fieldSpecs: [{path: metadata/namespace, create: true}]\n",
			"g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: g}\nliterals: [a=b]\n",
		},
		"configurations, crds, vars and a schema": {
			"kustomization.yaml": "resources: [base, shop.yaml]\nconfigurations: [names.yaml]\nopenapi: {path: " +
				"schema.json}\n" +
				"vars: [{name: WEB, objref: {kind: Service, name: web, apiVersion: v1}}]\nnamePrefix: a-\n" +
				"patches: [{path: shop-patch.yaml}]\nsortOptions: {order: fifo}\nbuildMetadata: [originAnnotations, " +
				"managedByLabel]\n",
			"shop.yaml": "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: s}\nspec: {secret: login, " +
				"tills: [{name: a, at: 1}]}\n",
			"shop-patch.yaml": "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: s}\nspec: {tills: [{name: " +
				"a, of: $(WEB)}]}\n",
			"names.yaml": "nameReference: [{kind: Secret, version: v1, fieldSpecs: [{kind: Shop, path: " +
				"spec/secret}]}]\n",
			"schema.json": `{"definitions": {"v1.Shop": {"type": "object", ` +
				`"x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Shop", "version": "v1"}], ` +
				`"properties": {"spec": {"type": "object", "properties": {"tills": {"type": "array", ` +
				`"items": {"type": "object"}, "x-kubernetes-patch-merge-key": "name", ` +
				`"x-kubernetes-patch-strategy": "merge"}}}}}}}`,
		},
		"names with spaces and signs": {
			"kustomization.yaml": "resources: ['a b/x+y@1.yaml']\n", "a b/x+y@1.yaml": service,
		},
	} {
		t.Run(name, func(t *testing.T) {
			maps.Copy(files, base)
			want := built(t, content(files), ".")
			got, err := kustomize.Build(t.Context(), content(files), kustomize.Limits{})
			if err != nil {
				t.Fatal(err, problems(t, err))
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" || !strings.Contains(string(got), "kind: ") {
				t.Error(diff)
			}
		})
	}
}

// built is what kustomize builds of a directory of files that are on disk.
func built(t *testing.T, files fs.FS, dir string) []byte {
	t.Helper()
	on := t.TempDir()
	if err := os.CopyFS(on, files); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(openapi.ResetOpenAPI) // it keeps the schema of one build for the next
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(on, filepath.FromSlash(dir)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := objects.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
