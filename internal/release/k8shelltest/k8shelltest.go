// Package k8shelltest lays down workspaces as k8shell's own chart renders them. It is written from what is known of
// that chart, which docs/k8shell.md has, and of what Helm makes of a release, and not from what berth does.
package k8shelltest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	helmchart "helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Workspace is what is said of one.
type Workspace struct {
	ID, Username, Blueprint, Organization string
	UserString                            string // in its canonical form
	Namespace                             string
	Image, Agent                          string
}

// Job is the job that made it.
const Job = "3b0b7b0e-6f5c-4a41-9f5e-0d6f3b1d2c4a"

// chart is what the chart renders, with capitals where values go.
const chart = `---
apiVersion: v1
kind: Secret
metadata:
  name: ID-pat
  labels: {k8shell.io/canonical-id: ID}
type: Opaque
data: {token: c2VjcmV0}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ID-k8shelld-config
  labels: {k8shell.io/canonical-id: ID}
data:
  config.yaml: |
    system:
      pprof: false
      logLevel: ""
      apiServer:
        enabled: true
        address: http://api-server.k8shell:9101
      grpc:
        port: 2822
        enableTLS: false
        authEnabled: false
    saToken:
      enabled: true
      cacheTokens: false
  blueprint.yaml: |
    # BLUEPRINT
    metadata:
      name: BLUEPRINT
    blueprint:
      name: BLUEPRINT
  profile.yaml: |
    username: USERNAME
    organization: ORGANIZATION
    uid: "1000"
    gid: "1000"
    sudo: true
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ID-files
  labels: {k8shell.io/canonical-id: ID}
data:
  README: A workspace
  __init_01_hello: |
    echo hello > "$HOME/hello"
---
apiVersion: v1
kind: Service
metadata:
  name: ID
  labels: {k8shell.io/canonical-id: ID}
spec:
  clusterIP: None
  selector: {k8shell.io/canonical-id: ID}
  ports: [{name: grpc-api, port: 2822, targetPort: 2822}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: np-ID-workspace
  labels: {k8shell.io/canonical-id: ID}
spec:
  podSelector: {matchLabels: {k8shell.io/canonical-id: ID}}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: k8shell}}
          podSelector: {matchLabels: {k8shell.io/app: ssh-proxy}}
  egress: [{}]
---
apiVersion: v1
kind: Pod
metadata:
  name: ID
  labels:
    k8shell.io/canonical-id: ID
    k8shell.io/k8shelld-version: 0.17.1
    k8shell.io/blueprint: BLUEPRINT
    k8shell.io/username: USERNAME
    k8shell.io/organization: ORGANIZATION
    k8shell.io/network-policy: workspace
    k8shell.io/job-id: JOB
  annotations:
    k8shell.io/manifest-hash: 0d5f3e0c3b2a19f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a3928170
    k8shell.io/identity: ldap
    k8shell.io/userstr: USERSTR
spec:
  restartPolicy: OnFailure
  enableServiceLinks: false
  initContainers:
    - name: init-base
      image: AGENT
      securityContext: {runAsUser: 0, runAsGroup: 0}
      command: [/bin/sh, -c, /k8shell/dist/scripts/init-base]
      volumeMounts: [{name: bin-volume, mountPath: /usr/local/bin}]
  containers:
    - name: k8shell-main
      image: IMAGE
      command: [/usr/local/bin/k8shelld]
      securityContext: {runAsUser: 0, runAsGroup: 0}
      resources:
        requests: {cpu: 100m, memory: 128Mi}
        limits: {cpu: 500m, memory: 256Mi}
      resizePolicy:
        - {resourceName: cpu, restartPolicy: NotRequired}
        - {resourceName: memory, restartPolicy: NotRequired}
      env:
        - {name: IMAGE, value: IMAGE}
        - {name: WORKSPACE, value: ID}
        - {name: "BLUEPRINT", value: BLUEPRINT}
        - {name: "USERNAME", value: USERNAME}
        - {name: USEREMAIL, value: USERNAME@example.com}
        - {name: K8SHELL_PAT_TOKEN, valueFrom: {secretKeyRef: {name: ID-pat, key: token}}}
        - {name: PROVISION_MODE, value: standalone}
      volumeMounts:
        - {name: bin-volume, mountPath: /usr/local/bin/k8shelld, subPath: k8shelld, readOnly: true}
        - {name: bin-volume, mountPath: /usr/local/bin/kbox, subPath: kbox, readOnly: true}
        - {name: bin-volume, mountPath: /usr/local/bin/sftp, subPath: sftp, readOnly: true}
        - {name: config-volume, mountPath: /etc/k8shell, readOnly: true}
        - {name: main-volume, mountPath: /usr/local/k8shell/system, readOnly: true}
        - {name: pat-secret, mountPath: /var/run/secrets/k8shell-pat, readOnly: true}
  volumes:
    - {name: bin-volume, emptyDir: {}}
    - {name: config-volume, configMap: {name: ID-k8shelld-config}}
    - {name: main-volume, configMap: {name: ID-files, defaultMode: 493}}
    - {name: pat-secret, secret: {secretName: ID-pat}}
`

// Release is the record of its release, with the labels and values that the original gives it.
func (w Workspace) Release(now time.Time) *helm.Release {
	userString := base64.RawURLEncoding.EncodeToString([]byte(w.UserString))
	manifest := strings.NewReplacer("ID-pat", w.ID+"-pat", "canonical-id: ID", "canonical-id: "+w.ID,
		"name: ID", "name: "+w.ID, "np-ID", "np-"+w.ID, "secretName: ID", "secretName: "+w.ID,
		"value: ID}", "value: "+w.ID+"}",
		"JOB", Job, "USERSTR", userString, "BLUEPRINT}", w.Blueprint+"}", ": BLUEPRINT", ": "+w.Blueprint,
		"# BLUEPRINT", "# "+w.Blueprint, ": USERNAME", ": "+w.Username, "ORGANIZATION", w.Organization,
		": AGENT", ": "+w.Agent, "image: IMAGE", "image: "+w.Image, "value: IMAGE", "value: "+w.Image).Replace(chart)
	record := &helm.Release{
		Name: w.ID, Namespace: w.Namespace, Version: 1, Manifest: manifest,
		Chart: &helmchart.Chart{Metadata: &helmchart.Metadata{
			APIVersion: helmchart.APIVersionV2, Name: "workspace", Version: "0.15.2-161561a", AppVersion: "v0.17.1",
		}},
		Config: map[string]any{
			"name": w.Blueprint, "image": w.Image, "k8shelld": map[string]any{"image": w.Agent},
			"resources": map[string]any{"cpu": "500m", "memory": "256Mi"},
			"network":   map[string]any{"networkPolicyClass": "workspace"},
			"initScripts": []any{
				map[string]any{"name": "hello", "script": "echo hello > \"$HOME/hello\"\n"},
			},
			"__canonicalid__": w.ID, "__jobid__": Job, "__username__": w.Username, "__blueprint__": w.Blueprint,
			"__organization__": w.Organization, "__namespace__": "k8shell", "__targetnamespace__": w.Namespace,
			"__appversion__": "0.17.1", "__identity__": "ldap", "__userstr__": userString, "__pat__": "secret",
		},
		Labels: map[string]string{
			"app.kubernetes.io/name": "k8shell-workspace", "app.kubernetes.io/instance": w.ID,
			"app.kubernetes.io/managed-by": "k8shell-provisioner", "k8shell.io/k8shelld-version": "0.17.1",
			"k8shell.io/username": w.Username, "k8shell.io/blueprint": w.Blueprint,
			"k8shell.io/organization": w.Organization,
		},
	}
	record.Info = &helm.Info{
		FirstDeployed: helmtime.Time{Time: now}, LastDeployed: helmtime.Time{Time: now},
		Status: helm.StatusDeployed, Description: "Install complete",
	}
	return record
}

// Record is the Secret that Helm keeps the release in.
func (w Workspace) Record(now time.Time) (*unstructured.Unstructured, error) {
	record := w.Release(now)
	text, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	labels := map[string]any{"name": w.ID, "owner": "helm", "status": "deployed", "version": "1"}
	for name, value := range record.Labels {
		labels[name] = value
	}
	// Helm encodes its text, and Kubernetes what is in a Secret.
	encoded := base64.StdEncoding.EncodeToString(packed.Bytes())
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{
			"name": "sh.helm.release.v1." + w.ID + ".v1", "namespace": w.Namespace, "labels": labels,
		},
		"data": map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(encoded))},
	}}, nil
}

// Objects are those of the release as Helm has created them, with its marks.
func (w Workspace) Objects() ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for text := range strings.SplitSeq(w.Release(time.Time{}).Manifest, "---\n") {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(text), &content); err != nil {
			return nil, fmt.Errorf("%w:\n%s", err, text)
		}
		if len(content) == 0 {
			continue
		}
		object := &unstructured.Unstructured{Object: content}
		labels, annotations := maps.Clone(object.GetLabels()), map[string]string{}
		maps.Copy(annotations, object.GetAnnotations())
		labels["app.kubernetes.io/managed-by"] = "Helm"
		annotations["meta.helm.sh/release-name"] = w.ID
		annotations["meta.helm.sh/release-namespace"] = w.Namespace
		object.SetLabels(labels)
		object.SetAnnotations(annotations)
		object.SetNamespace(w.Namespace)
		objects = append(objects, object)
	}
	return objects, nil
}
