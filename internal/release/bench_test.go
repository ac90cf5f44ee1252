package release

import (
	"testing"

	"sigs.k8s.io/yaml"
)

const benchValues = `
id: alice-1
labels: {a: "1", b: "yes", c: "0x1F", k8shell.io/canonical-id: alice-1}
image: registry.example.com/dev:1
imagePullSecrets: [one, two]
env: {A: "1", B: "quote \" and\nnewline é", C: "<no value>", D: ""}
resources: {cpu: 500m, memory: 1Gi}
securityContext: {runAsUser: 1000, runAsNonRoot: true}
networkPolicy: {name: alice-1, spec: {podSelector: {}, policyTypes: [Egress]}}
storages:
  - {name: home, type: claim, path: /home/dev, owner: "1000:1000", claim: alice-1-home, claimSpec: {accessModes: [ReadWriteOnce]}, annotations: {backup: daily}}
  - {name: data, type: claim, path: /data, readonly: true, claim: data-of-alice}
initScripts: [{file: 01-one, script: "echo 1\n---\necho 2"}, {file: 02-two, script: ""}]
home: {path: /home/dev, storage: home, workingDir: /home/dev}
helper: {image: registry.example.com/git:1, env: {https_proxy: "http://proxy"}, asRoot: {runAsUser: 0}, asUser: {runAsUser: 1000}}
repository: {url: https://git.example.com/org/proj.git, ref: main, name: proj, apart: true, kept: "", inWorkspace: true}
gitSecret: alice-1-git
names: {config: alice-1-config, initScripts: alice-1-init, extFiles: alice-1-files}
`

func BenchmarkRender(b *testing.B) {
	var values map[string]any
	_ = yaml.Unmarshal([]byte(benchValues), &values)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(values); err != nil {
			b.Fatal(err)
		}
	}
}
