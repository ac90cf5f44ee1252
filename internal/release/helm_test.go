package release

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/storage/driver"
	clientset "k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

// withHelm renders a chart as Helm does.
func withHelm(c *chart.Chart, values map[string]any) (string, error) {
	options := chartutil.ReleaseOptions{Name: "a", Namespace: "ns", Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Engine{}.Render(c, top)
	if err != nil {
		return "", err
	}
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, m := range manifests {
		text.WriteString("---\n# Source: " + m.Name + "\n" + m.Content + "\n")
	}
	return text.String(), nil
}

// The embedded chart is a chart for Helm, too, and comes out the same.
func TestHelmRendersTheSame(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": `{}`,
		"shell": `
id: alice-1
labels: {a: "1", b: "yes", c: "0x1F"}
annotations: {note: "{{ not a template }}"}
image: registry.example.com/dev:1
imagePullSecrets: [one, two]
hostname: "123"
subdomain: team
env: {A: "1", B: "quote \" and\nnewline é", C: "<no value>", D: ""}
resources: {cpu: 500m, memory: 1Gi}
securityContext: {runAsUser: 1000, runAsNonRoot: true}
networkPolicy: {name: alice-1, spec: {podSelector: {}, policyTypes: [Egress]}}
certificate: {secretName: alice-1-tls, dnsNames: [a.example.com, b.example.com], issuerRef: {name: ca, kind: Issuer}}
storages:
  - name: home
    type: claim
    path: /home/dev
    owner: "1000:1000"
    claim: alice-1-home
    claimSpec: {accessModes: [ReadWriteOnce]}
    annotations: {backup: daily}
  - {name: data, type: claim, path: /data, readonly: true, claim: data-of-alice}
  - {name: scratch, type: memory, path: /scratch, sizeLimit: 64Mi, owner: "0:1000"}
  - {name: tmp, type: emptyDir, path: /tmp}
  - name: build
    type: scratch
    path: /build
    readonly: true
    driver: scratch.berth.dev
    attributes: {afterlife: 6h, storage: build, workspace: alice-1, userString: "alice~a \"b\""}
  - name: given
    type: scratch
    path: /given
    readonly: true
    owner: "1000:1000"
    driver: scratch.berth.dev
    attributes: {storage: "yes"}
configuration: {splash: "Welcome\n", user.json: "{\"a\": 1}"}
initScripts: [{file: 01-one, script: "echo 1\n---\necho 2"}, {file: 02-two, script: ""}]
extFiles: [{key: a, path: /etc/a.conf, content: "a\n"}]
home: {path: /home/dev, storage: home, workingDir: /home/dev}
helper:
  image: registry.example.com/git:1
  env: {https_proxy: "http://proxy"}
  asRoot: {runAsUser: 0}
  asUser: {runAsUser: 1000}
repository: {url: https://git.example.com/org/proj.git, ref: main, name: proj, apart: true, kept: "", inWorkspace: true}
gitSecret: alice-1-git
names: {config: alice-1-config, initScripts: alice-1-init, extFiles: alice-1-files}
`,
		"agent": `
id: alice-1
agent: {image: registry.example.com/agent:1, imagePullPolicy: Always}
resources: {memory: 1Gi}
podman:
  image: quay.io/podman/stable:v5
  imagePullPolicy: IfNotPresent
  sizeLimit: 10Gi
  resources: {cpu: "1"}
  securityContext: {privileged: true}
port: 2823
storages: [{name: home, type: claim, path: /home/dev, owner: "1000:1000", claim: alice-1-home}]
initScripts: [{file: 01-one, script: echo 1}]
`,
		"injected": `
id: alice-1
home: {path: /work}
repository:
  url: https://git.example.com/org/proj.git
  ref: ""
  name: proj
  apart: false
  kept: /k8shell/repository/kept
`,
		"without a default": `{id: alice-1, imagePullPolicy: null, runtime: {probeSeconds: 7.0}, ` +
			`names: {config: null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(text), &values); err != nil {
				t.Fatal(err)
			}
			got, err := Render(values)
			if err != nil {
				t.Fatal(err)
			}
			want, err := withHelm(got.Chart, values)
			if diff := cmp.Diff(want, got.Manifest); err != nil || diff != "" {
				t.Errorf("%v (-helm +berth):\n%s", err, diff)
			}
		})
	}
}

// Helm reads the records that are written here, and the reverse.
func TestHelmKeepsTheSameRecords(t *testing.T) {
	secrets := clientset.NewClientset().CoreV1().Secrets("ns")
	records, helms := Records{Secrets: secrets, Namespace: "ns"}, driver.NewSecrets(secrets)
	rendered, err := Render(map[string]any{"id": "a"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 23, 50, 25, 0, time.UTC)
	ours, theirs := NewRecord("ours", "ns", rendered, now), NewRecord("theirs", "ns", rendered, now)
	if err := records.Create(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	if err := helms.Create(key(theirs), theirs); err != nil {
		t.Fatal(err)
	}
	read, err := helms.Query(map[string]string{
		"owner": "helm", "name": "ours", "status": "pending-install",
		"version": "1",
	})
	if err != nil || len(read) != 1 || read[0].Manifest != rendered.Manifest || read[0].Chart.Name() != ChartName {
		t.Errorf("helm reads %+v, %v", read, err)
	}
	if found, err := records.Latest(t.Context(), "theirs"); err != nil || found == nil ||
		found.Manifest != rendered.Manifest {
		t.Errorf("Helm's is read as %+v, %v", found, err)
	}
	err = helms.Create(key(ours), ours)
	if err != driver.ErrReleaseExists { //nolint:errorlint // it is this very value
		t.Errorf("helm does not see that there is a record: %v", err)
	}
	Deployed(ours, now.Add(time.Minute))
	if err := records.Update(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	if read, err := helms.Query(map[string]string{
		"name": "ours", "status": "deployed",
		"modifiedAt": "1795218685",
	}); err != nil || len(read) != 1 {
		t.Errorf("helm finds %+v, %v", read, err)
	}
}
