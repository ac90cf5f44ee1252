// Package manifest says what a workspace is made of on a cluster: the values of the chart, and the objects beside its
// release. It is pure: a blueprint and what is known of its user go in, and no cluster is asked.
package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/userstring"
)

// Spec is all that decides what is installed.
type Spec struct {
	User      userstring.UserString
	Namespace string
	Identity  identity.User
	Blueprint blueprint.Blueprint
	// Repository is what is cloned into the home directory; nil for none.
	Repository  *Repository
	Access      Access
	Certificate *Certificate // nil for none
	// ControlNamespace is that of k8shell's proxy and API server, which alone may come to an agent; empty for none.
	ControlNamespace string
	// APIServer is the address of k8shell's API server, which agents report to; empty if they do not.
	APIServer string
	JobID     string
	// Injected is true for a workspace in the pods of a workload, which has no
	// Secrets, and no container that keeps the others waiting for a repository.
	Injected bool
}

// Values are the values of the workspace chart.
func (s Spec) Values() (map[string]any, error) {
	id, b, labels := s.User.ID(), s.Blueprint, podLabels(s)
	annotations, err := podAnnotations(s)
	if err != nil {
		return nil, err
	}
	policy, err := networkPolicy(s)
	if err != nil {
		return nil, err
	}
	k8shell, err := forK8shell(s, labels, annotations)
	if err != nil {
		return nil, err
	}
	hostname := b.Hostname // empty for the ID
	if b.Subdomain != "" {
		hostname = "" // so that the DNS names of two workspaces of one blueprint differ
	}
	pullSecrets := []any{}
	if s.Access.Registry != nil {
		pullSecrets = append(pullSecrets, registry.PullSecretName)
	}
	gitSecret := ""
	if _, ok := s.credentials(); ok {
		gitSecret = GitSecret(id)
	}
	values, _ := jsonValue(map[string]any{
		"id": id, "labels": labels, "annotations": annotations,
		"image": b.Image, "imagePullPolicy": b.ImagePullPolicy, "imagePullSecrets": pullSecrets,
		"hostname": hostname, "subdomain": b.Subdomain,
		"env": environment(s), "home": home(b), "securityContext": agentSecurity(b),
		"resources": resources(b.Resources), "helper": helper(s), "agent": agent(s),
		"podman":        podman(b),
		"networkPolicy": policy, "certificate": s.Certificate.value(s),
		"storages": storages(s), "configuration": configuration(b),
		"initScripts": initScripts(b), "extFiles": extFiles(b),
		"names": names(s), "repository": repository(s), "gitSecret": gitSecret,
		k8shellValue: k8shell,
	}).(map[string]any)
	if b.Limits != (blueprint.Limits{}) {
		values[limitsValue] = jsonValue(b.Limits)
	}
	return values, nil
}

// configuration are the files beside the scripts of the shell runtime. An agent has the splash in its blueprint.
func configuration(b blueprint.Blueprint) map[string]any {
	files := map[string]any{}
	if b.Splash != "" && !hasAgent(b) {
		files["motd"] = strings.TrimRight(b.Splash, "\n") + "\n"
	}
	return files
}

func initScripts(b blueprint.Blueprint) []any {
	scripts := []any{}
	for i, script := range b.InitScripts {
		file := scriptFile(b, i+1, script)
		scripts = append(scripts, map[string]any{"file": file, "script": script.Script})
	}
	return scripts
}

func extFiles(b blueprint.Blueprint) []any {
	files := []any{}
	for i, path := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		key := fmt.Sprintf("file-%d", i+1)
		if plain := strings.ReplaceAll(path, "/", "__"); hasAgent(b) && len(validation.IsConfigMapKey(plain)) == 0 {
			key = plain
		}
		files = append(files, map[string]any{"key": key, "path": path, "content": b.ExtFiles[path]})
	}
	if !b.Podman.Enabled {
		return files
	}
	for i, path := range slices.Sorted(maps.Keys(b.Podman.ExtFiles)) {
		files = append(files, map[string]any{
			"key": fmt.Sprintf("podman-file-%d", i+1), "path": path, "content": b.Podman.ExtFiles[path],
			"sidecar": true,
		})
	}
	return files
}

// names are those of a workspace's objects, by the chart's names for them.
func names(s Spec) map[string]string {
	id := s.User.ID()
	all := map[string]string{
		"config":      kube.Name(id, "config"),
		"initScripts": kube.Name(id, "init-scripts"),
		"extFiles":    kube.Name(id, "ext-files"),
		"certificate": kube.Name(id, "cert"),
	}
	if hasAgent(s.Blueprint) {
		maps.Copy(all, agentNames(id))
	}
	return all
}

// agentNames are those of the ConfigMaps that a workspace with an agent has.
func agentNames(id string) map[string]string {
	return map[string]string{
		"agent":    kube.Name(id, "k8shelld-config"),
		"files":    kube.Name(id, "files"),
		"extFiles": kube.Name(id, "main-ext-files"),
	}
}

// configMapNames are those of the ConfigMaps that a workspace can have.
func configMapNames(id string) []string {
	shell := []string{kube.Name(id, "config"), kube.Name(id, "init-scripts"), kube.Name(id, "ext-files")}
	return append(shell, slices.Sorted(maps.Values(agentNames(id)))...)
}

// certificateNames are those of a workspace's Certificate, the one that it is made with first.
func certificateNames(id string) []string { return []string{kube.Name(id, "cert"), id} }

// podLabels are the labels by which everything that knows workspaces finds
// them. A label without a value says nothing and is left out, but for the organization, which k8shell always expects.
func podLabels(s Spec) map[string]string {
	labels := map[string]string{}
	for name, value := range map[string]string{
		kube.LabelAgentVersion:  agentVersion(s.Blueprint.K8shelld.Image),
		kube.LabelBlueprint:     s.Blueprint.Name,
		kube.LabelCanonicalID:   s.User.ID(),
		kube.LabelJobID:         s.JobID,
		kube.LabelNetworkPolicy: networkClass(s.Blueprint.Network),
		kube.LabelOrganization:  s.Identity.Organization,
		kube.LabelSubdomain:     s.Blueprint.Subdomain,
		kube.LabelUsername:      userstring.OwnerLabel(s.Identity.Username),
	} {
		if value = kube.LabelValue(value); value != "" {
			labels[name] = value
		}
	}
	if s.Identity.Organization == "" {
		labels[kube.LabelOrganization] = ""
	}
	return labels
}

func podAnnotations(s Spec) (map[string]string, error) {
	made := s.Blueprint
	made.Limits, made.StrictScripts = blueprint.Limits{}, false // what runs is the same
	text, err := json.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", s.Blueprint.Name, err)
	}
	sum := sha256.Sum256(text)
	annotations := map[string]string{
		kube.AnnotationIdentity:     s.Identity.Provider,
		kube.AnnotationManifestHash: hex.EncodeToString(sum[:]),
		kube.AnnotationUserString:   s.User.Annotation(),
	}
	if s.Identity.Name != "" {
		annotations[kube.AnnotationUser] = userstring.ToAnnotation(s.Identity.Name)
	}
	if s.Blueprint.StrictScripts {
		annotations[kube.AnnotationStrictScripts] = "true"
	}
	return annotations, nil
}

// Notes say what is ignored of what the blueprint and the user's identity ask for, and what it leaves open.
func (s Spec) Notes() (notes []string) {
	if b := s.Blueprint; b.Subdomain != "" && b.Hostname != "" && b.Hostname != s.User.ID() {
		notes = append(notes, "hostname "+b.Hostname+
			" is ignored: with a subdomain, the hostname is the workspace's ID")
	}
	switch agent := hasAgent(s.Blueprint); {
	case agent && !s.User.Workload.IsZero():
		notes = append(notes, "the agent on port 2822 asks for no credentials, and no network policy of berth's is "+
			"for the pods of a workload: whatever reaches the pods of "+s.User.Workload.String()+" can enter it")
	case agent && networkClass(s.Blueprint.Network) == "":
		notes = append(notes, "the agent on port 2822 asks for no credentials, and without a "+
			"network.networkPolicyClass berth keeps nobody from it: whatever reaches the pod can enter the workspace")
	case agent && s.ControlNamespace == "":
		notes = append(notes, "nothing may come to the agent on port 2822: controlNamespace is not configured")
	}
	if s.Identity.Sudo && s.Blueprint.K8shelld.Image == "" {
		notes = append(notes, "sudo of "+userstring.Owner(s.Identity.Username)+
			" is ignored: only the agent switches users; the shell runtime runs as the container does")
	}
	return notes
}

// Injectable removes what an injected workspace does not have: the podman sidecar, home directories, and credentials.
// It also returns what a user may miss, as messages.
func (s Spec) Injectable() (injectable Spec, leftOut []string) {
	kept := map[string]blueprint.Storage{}
	for _, name := range slices.Sorted(maps.Keys(s.Blueprint.Storages)) {
		if storage := s.Blueprint.Storages[name]; storage.On() && s.Blueprint.IsHome(name) {
			leftOut = append(leftOut, fmt.Sprintf("storage %s is skipped: it is a home directory, which an injected "+
				"workspace does not have", name))
		} else {
			kept[name] = storage
		}
	}
	if r, ok := s.credentials(); ok {
		leftOut = append(leftOut, fmt.Sprintf("the credentials of %s are left out: an injected workspace has no "+
			"Secrets, so it clones its repository only if that is public", r.URL))
	}
	s.Blueprint.Storages = kept
	s.Blueprint.Podman.Enabled = false // so that nothing speaks of a sidecar that is not there
	s.Injected = true
	return s, leftOut
}
