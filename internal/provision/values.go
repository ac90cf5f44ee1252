package provision

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// workspaceSpec is all that decides what is installed.
type workspaceSpec struct {
	user      userstring.UserString
	namespace string
	identity  identity.User
	blueprint blueprint.Blueprint
	// repository is what is cloned into the home directory; nil for none.
	repository  *Repository
	access      Access
	certificate *Certificate // nil for none
	jobID       string
	// injected is set for a workspace in the pods of a workload.
	injected bool
}

// Repository is a git repository that a workspace has in it.
type Repository struct {
	// URL is where it is cloned from, over HTTPS.
	URL string
	// Ref is the branch, tag or commit as typed; its default branch if empty.
	Ref string
}

func (r *run) workspaceSpec() workspaceSpec {
	b, injected := r.blueprint, r.found.workload != nil
	if injected {
		b, _ = injectable(b)
	}
	return workspaceSpec{
		user: r.user, namespace: r.namespace, identity: r.identity, blueprint: b, injected: injected,
		repository: r.access.clone(r.user), access: r.access, certificate: r.Certificate, jobID: r.jobID,
	}
}

func (r *Repository) value() any {
	if r == nil {
		return nil
	}
	return map[string]any{"url": r.URL, "ref": r.Ref}
}

// chartValues are the values of the workspace chart.
func chartValues(s workspaceSpec) (map[string]any, error) {
	id, b := s.user.ID(), s.blueprint
	annotations, err := podAnnotations(s)
	if err != nil {
		return nil, err
	}
	policy, err := networkPolicy(s)
	if err != nil {
		return nil, err
	}
	configuration, err := configuration(b)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"id": id, "labels": podLabels(s), "annotations": annotations,
		"image": b.Image, "imagePullPolicy": b.ImagePullPolicy, "imagePullSecrets": s.access.pullSecrets(),
		"hostname": hostname(b), "subdomain": b.Subdomain,
		"env": environment(b), "securityContext": b.SecurityContext, "resources": resources(b.Resources),
		"agent": agent(b.K8shelld), "podman": podman(b.Podman),
		"networkPolicy": policy, "certificate": s.certificate.value(s),
		"storages": storages(id, b.Storages), "configuration": configuration,
		"initScripts": initScripts(b), "extFiles": extFiles(b),
		"names": configMapNames(id), "repository": s.repository.value(), "gitSecret": gitSecretName(s),
	}, nil
}

// hostname is empty for the ID. Where a headless Service gives DNS names it is
// always the ID: the DNS name is made of it, and two workspaces of one blueprint
// must not have the same.
func hostname(b blueprint.Blueprint) string {
	if b.Subdomain != "" {
		return ""
	}
	return b.Hostname
}

func initScripts(b blueprint.Blueprint) []any {
	scripts := []any{}
	for i, script := range b.InitScripts {
		scripts = append(scripts, map[string]any{"file": fmt.Sprintf("%02d-%s", i+1, script.Name), "script": script.Script})
	}
	return scripts
}

func extFiles(b blueprint.Blueprint) []any {
	files := []any{}
	for i, path := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		files = append(files, map[string]any{"key": fmt.Sprintf("file-%d", i+1), "path": path, "content": b.ExtFiles[path]})
	}
	return files
}

// configuration are the files beside the runtime's scripts: the splash, and what
// is handed to the agent as it is.
func configuration(b blueprint.Blueprint) (map[string]any, error) {
	files := map[string]any{}
	if b.Splash != "" {
		files["motd"] = strings.TrimRight(b.Splash, "\n") + "\n"
	}
	if b.K8shelld.Image == "" && !b.EnableApps && len(b.Apps) == 0 {
		return files, nil
	}
	text, err := yaml.Marshal(map[string]any{
		"enableApps": b.EnableApps, "apps": b.Apps,
		"k8shelld": map[string]any{"ignoreOrphans": b.K8shelld.IgnoreOrphans, "connection": b.K8shelld.Connection},
	})
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", b.Name, err)
	}
	files["workspace.yaml"] = string(text)
	return files, nil
}

// configMapNames are the names of a workspace's ConfigMaps, by the chart's names
// for them.
func configMapNames(id string) map[string]any {
	return map[string]any{
		"config":      configName(id),
		"initScripts": kube.Name(id, "init-scripts"),
		"extFiles":    kube.Name(id, "ext-files"),
	}
}

func configName(id string) string { return kube.Name(id, "config") }

// podLabels are the labels by which everything that knows workspaces finds
// them. A label without a value says nothing and is left out.
func podLabels(s workspaceSpec) map[string]any {
	labels := map[string]any{}
	for name, value := range map[string]string{
		kube.LabelAgentVersion:  agentVersion(s.blueprint.K8shelld.Image),
		kube.LabelBlueprint:     s.blueprint.Name,
		kube.LabelCanonicalID:   s.user.ID(),
		kube.LabelJobID:         s.jobID,
		kube.LabelNetworkPolicy: networkClass(s.blueprint.Network),
		kube.LabelOrganization:  s.identity.Organization,
		kube.LabelSubdomain:     s.blueprint.Subdomain,
		kube.LabelUsername:      s.identity.Username,
	} {
		if value = kube.LabelValue(value); value != "" {
			labels[name] = value
		}
	}
	return labels
}

func podAnnotations(s workspaceSpec) (map[string]any, error) {
	text, err := json.Marshal(s.blueprint)
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", s.blueprint.Name, err)
	}
	sum := sha256.Sum256(text)
	return map[string]any{
		kube.AnnotationIdentity:     s.identity.Provider + "/" + s.identity.Organization,
		kube.AnnotationManifestHash: hex.EncodeToString(sum[:]),
		kube.AnnotationUserString:   base64.StdEncoding.EncodeToString([]byte(s.user.String())),
	}, nil
}
