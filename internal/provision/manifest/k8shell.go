package manifest

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
)

// k8shellValue is the value of the chart for what k8shell's programs read of a release: the blueprint's fields, and
// what else decided what was installed, between underscores. Package release records it where they look for it.
const k8shellValue = "k8shell"

// forK8shell is that value. It has no secrets, and nothing of which the form is not known; see docs/k8shell.md.
func forK8shell(s Spec, labels, annotations map[string]string) (map[string]any, error) {
	fields, err := k8shellBlueprint(s.Blueprint)
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", s.Blueprint.Name, err)
	}
	values := map[string]any{}
	if hasAgent(s.Blueprint) {
		config, err := yaml.Marshal(agentConfig(s, fields))
		if err != nil {
			return nil, fmt.Errorf("blueprint %s: %w", s.Blueprint.Name, err)
		}
		profile, err := yaml.Marshal(agentProfile(s.Identity))
		if err != nil {
			return nil, fmt.Errorf("profile of %s: %w", s.Identity.Username, err)
		}
		resolved, err := agentBlueprint(s, fields)
		if err != nil {
			return nil, fmt.Errorf("blueprint %s: %w", s.Blueprint.Name, err)
		}
		values["__configyaml__"], values["__profileyaml__"] = string(config), string(profile)
		values["__blueprintyaml__"] = resolved
	}
	for key, value := range map[string]string{
		"__canonicalid__": s.User.ID(), "__jobid__": labels[kube.LabelJobID],
		"__username__": s.Identity.Username, "__blueprint__": s.Blueprint.Name,
		"__organization__": s.Identity.Organization, "__namespace__": s.ControlNamespace,
		"__targetnamespace__": s.Namespace, "__appversion__": labels[kube.LabelAgentVersion],
		"__identity__":     annotations[kube.AnnotationIdentity],
		"__userstr__":      annotations[kube.AnnotationUserString],
		"__manifesthash__": annotations[kube.AnnotationManifestHash],
	} {
		values[key] = value
	}
	maps.Copy(values, fields)
	return values, nil
}

// k8shellBlueprint are the fields of a blueprint as k8shell's schema has them, every one of them; what only berth knows
// is left out.
func k8shellBlueprint(b blueprint.Blueprint) (map[string]any, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	var written map[string]any
	if err := json.Unmarshal(text, &written); err != nil {
		return nil, err
	}
	fields := emptyBlueprint()
	fill(fields, written)
	if ignored, isBool := at(fields, "k8shelld", "ignoreOrphans").(bool); isBool {
		list := []any{}
		if ignored {
			list = append(list, ".*")
		}
		_ = unstructured.SetNestedSlice(fields, list, "k8shelld", "ignoreOrphans")
	}
	network, _ := fields["network"].(map[string]any)
	if pods, _ := network["allowEgressToPods"].([]any); len(pods) > 0 {
		peers := []any{}
		for _, pod := range pods {
			if labels, has := at(pod, "labels").(map[string]any); has {
				pod = labels // any namespace, there
			}
			peers = append(peers, pod)
		}
		network["allowEgressToPods"] = peers
	}
	asStorages(fields["storages"], b.Storages)
	asStorages(at(fields, "podman", "storages"), b.Podman.Storages)
	completeApps(fields["apps"])
	scripts := []any{}
	for _, script := range b.InitScripts { // always is no field of what reads this: the agent has the scripts as files
		scripts = append(scripts, map[string]any{"name": script.Name, "script": script.Script})
	}
	fields["initScripts"] = scripts
	return fields, nil
}

// completeStorages gives each storage all the fields of k8shell's schema, and no other.
func completeStorages(fields any) {
	storages, _ := fields.(map[string]any)
	for name, storage := range storages {
		whole := emptyStorage()
		written, _ := storage.(map[string]any)
		fill(whole, written)
		storages[name] = whole
	}
}

// completeApps gives each application all the fields of k8shell's schema. A later agent may know more of them.
func completeApps(fields any) {
	apps, _ := fields.(map[string]any)
	for name, app := range apps {
		whole := emptyApp()
		written, _ := app.(map[string]any)
		maps.Copy(whole, written)
		apps[name] = whole
	}
}

// asStorages writes storages as k8shell means them: one is off there unless it is switched on, and it has no driver.
func asStorages(fields any, storages map[string]blueprint.Storage) {
	completeStorages(fields)
	for name, storage := range storages {
		if value, has := at(fields, name).(map[string]any); has {
			value["enabled"] = storage.On()
			if storage.Type == blueprint.StorageScratch {
				value["type"] = blueprint.StorageEmptyDir // which is what is left of it without the driver
			}
		}
	}
}

// emptyBlueprint has all fields of k8shell's schema. What is empty here may hold anything.
func emptyBlueprint() map[string]any {
	resources := func() map[string]any { return map[string]any{"cpu": "", "memory": ""} }
	return map[string]any{
		"name": "", "description": "", "isTemplate": false, "splash": "", "template": "",
		"hostname": "", "subdomain": "", "image": "", "imagePullPolicy": "",
		"k8shelld": map[string]any{
			"image": "", "imagePullPolicy": "", "ignoreOrphans": []any{},
			"connection": map[string]any{"allowAnyNS": false, "allowAnySA": false},
		},
		"env": map[string]any{},
		"network": map[string]any{
			"networkPolicyClass": "", "allowEgressToCIDRs": []any{}, "allowEgressToPods": []any{},
		},
		"resources": resources(),
		"podman": map[string]any{
			"enabled": false, "image": "", "resources": resources(), "createDockerSockSymlink": false,
			"parentStorages": []any{}, "extFiles": map[string]any{}, "storages": map[string]any{},
			"securityContext": map[string]any{},
		},
		"storages": map[string]any{}, "initScripts": []any{}, "showInitScriptStatus": false,
		"securityContext": map[string]any{}, "extFiles": map[string]any{},
		"enableApps": false, "apps": map[string]any{},
	}
}

// emptyStorage has all fields of a storage. An owner that nobody has set is null, and not root.
func emptyStorage() map[string]any {
	return map[string]any{
		"enabled": false, "id": "", "type": "", "path": "", "readonly": false, "sizeLimit": "", "existingClaim": "",
		"fsOwnerUid": nil, "fsOwnerGid": nil, "claimSpec": map[string]any{}, "claimSpecAnnotations": map[string]any{},
	}
}

// emptyApp has all fields of an application. Which type maxRestartBackoff has is not known: it is null unless set.
func emptyApp() map[string]any {
	return map[string]any{
		"name": "", "enabled": false, "binary": "", "versionCmd": []any{}, "versionRegex": "", "install": "",
		"start": []any{}, "listen": "", "restartPolicy": "", "maxRestartBackoff": nil, "installAsRoot": false,
		"autoStart": false, "protocol": "",
	}
}

// fill takes over the fields that are known.
func fill(known, written map[string]any) {
	for key, empty := range known {
		value, has := written[key]
		below, isTable := empty.(map[string]any)
		table, _ := value.(map[string]any)
		switch {
		case !has || value == nil:
		case isTable && len(below) > 0:
			fill(below, table)
		default:
			known[key] = value
		}
	}
}

// at is the value at a path; nil without one.
func at(value any, path ...string) any {
	for _, key := range path {
		table, _ := value.(map[string]any)
		value = table[key]
	}
	return value
}
