package provision

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// workspaceSpec is all that decides what is installed.
type workspaceSpec struct {
	user      userstring.UserString
	identity  identity.User
	blueprint blueprint.Blueprint
	// repository is what is cloned into the home directory; nil for none.
	repository *Repository
	jobID      string
}

// Repository is a git repository that a workspace has in it.
type Repository struct {
	// URL is where it is cloned from, over HTTPS.
	URL string
	// Ref is the branch, tag or commit as typed; its default branch if empty.
	Ref string
}

func (r *run) workspaceSpec() workspaceSpec {
	return workspaceSpec{user: r.user, identity: r.identity, blueprint: r.blueprint, repository: repository(r.user), jobID: r.jobID}
}

// repository is the one that a user string names. What names no host is at
// github.com, as it is for the providers of .k8shell.yaml.
func repository(u userstring.UserString) *Repository {
	if u.Form() != userstring.Repo {
		return nil
	}
	return &Repository{URL: "https://github.com/" + u.RepoOwner + "/" + u.RepoName + ".git", Ref: u.RefTyped}
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
	scripts := []any{}
	for i, script := range b.InitScripts {
		scripts = append(scripts, map[string]any{"file": fmt.Sprintf("%02d-%s", i+1, script.Name), "script": script.Script})
	}
	files := []any{}
	for i, path := range slices.Sorted(maps.Keys(b.ExtFiles)) {
		files = append(files, map[string]any{"key": fmt.Sprintf("file-%d", i+1), "path": path, "content": b.ExtFiles[path]})
	}
	env := map[string]any{}
	for name, value := range b.Env {
		env[name] = value
	}
	return map[string]any{
		"id": id, "labels": podLabels(s), "annotations": annotations,
		"image": b.Image, "imagePullPolicy": b.ImagePullPolicy, "hostname": b.Hostname,
		"env": env, "securityContext": b.SecurityContext,
		"resources": map[string]any{"cpu": b.Resources.CPU, "memory": b.Resources.Memory},
		"storages":  storages(id, b.Storages), "initScripts": scripts, "extFiles": files,
		"names": configMapNames(id), "repository": s.repository.value(),
	}, nil
}

func storages(id string, all map[string]blueprint.Storage) []any {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		if !s.On() {
			continue
		}
		out = append(out, map[string]any{
			"name": name, "claim": claimName(id, name), "path": s.Path, "type": s.Type,
			"readonly": s.Readonly, "sizeLimit": s.SizeLimit, "claimSpec": s.ClaimSpec,
		})
	}
	return out
}

// configMapNames are the names of a workspace's ConfigMaps, by the chart's names
// for them.
func configMapNames(id string) map[string]any {
	return map[string]any{
		"config":      kube.Name(id, "config"),
		"initScripts": kube.Name(id, "init-scripts"),
		"extFiles":    kube.Name(id, "ext-files"),
	}
}

func claimName(id, storage string) string { return kube.Name("pvc", id, storage) }

// podLabels are the labels by which everything that knows workspaces finds
// them. A label without a value says nothing and is left out.
func podLabels(s workspaceSpec) map[string]any {
	labels := map[string]any{}
	for name, value := range map[string]string{
		kube.LabelBlueprint:    s.blueprint.Name,
		kube.LabelCanonicalID:  s.user.ID(),
		kube.LabelJobID:        s.jobID,
		kube.LabelOrganization: s.identity.Organization,
		kube.LabelUsername:     s.identity.Username,
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
