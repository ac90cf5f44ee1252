package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry/image"
)

// What an agent requires of its pod is k8shell's contract, which docs/k8shell.md describes.

// What an agent asks for, whatever its blueprint limits it to.
const (
	agentCPU    = "100m"
	agentMemory = "128Mi"
)

// PATSecret is the name of the Secret with the token of a workspace for k8shell's API server, which k8shell makes.
func PATSecret(id string) string { return kube.Name(id, "pat") }

// IsPAT is true for that Secret.
func IsPAT(id string, object *unstructured.Unstructured) bool {
	return object.GetKind() == "Secret" && object.GetName() == PATSecret(id)
}

// hasAgent is true for a workspace whose first process is an agent.
func hasAgent(b blueprint.Blueprint) bool { return b.K8shelld.Image != "" }

// agent is the chart's value; nil for the shell runtime.
func agent(s Spec) any {
	k := s.Blueprint.K8shelld
	if !hasAgent(s.Blueprint) {
		return nil
	}
	pat := ""
	if s.reachesAPIServer() {
		pat = PATSecret(s.User.ID())
	}
	return map[string]any{
		"image": k.Image, "imagePullPolicy": cmp.Or(k.ImagePullPolicy, blueprint.DefaultPullPolicy),
		"asRoot": installer(s.Blueprint), "resources": agentResources(s.Blueprint.Resources),
		"readme": readme(s), "pat": pat,
	}
}

// reachesAPIServer says whether the agent talks to k8shell's API server. In a workload there is no Secret with its
// token.
func (s Spec) reachesAPIServer() bool { return s.APIServer != "" && !s.Injected }

// installer is the security context of the container that installs an agent: root, who can give away files.
func installer(b blueprint.Blueprint) map[string]any {
	context := confined(b.SecurityContext)
	delete(context, "readOnlyRootFilesystem")
	context["runAsUser"], context["runAsGroup"], context["runAsNonRoot"] = 0, 0, false
	context["capabilities"] = map[string]any{
		"drop": []any{"ALL"}, "add": []any{"CHOWN", "DAC_OVERRIDE", "FOWNER"},
	}
	return context
}

// agentSecurity is the security context of the main container: an agent starts as root.
func agentSecurity(b blueprint.Blueprint) map[string]any {
	if !hasAgent(b) {
		return b.SecurityContext
	}
	context := map[string]any{"runAsUser": 0, "runAsGroup": 0}
	maps.Copy(context, b.SecurityContext)
	return context
}

// agentResources are fixed requests, and the blueprint's resources as limits. What is limited to less asks for that.
func agentResources(r blueprint.Resources) map[string]any {
	requests, limits := map[string]any{}, map[string]any{}
	for _, of := range []struct{ name, asked, limit string }{
		{"cpu", agentCPU, r.CPU}, {"memory", agentMemory, r.Memory},
	} {
		requests[of.name] = of.asked
		if of.limit == "" {
			continue
		}
		limits[of.name] = of.limit
		most, err := resource.ParseQuantity(of.limit)
		if asked := resource.MustParse(of.asked); err == nil && most.Cmp(asked) < 0 {
			requests[of.name] = of.limit
		}
	}
	out := map[string]any{"requests": requests}
	if len(limits) > 0 {
		out["limits"] = limits
	}
	return out
}

// agentVersion is the tag of the agent's image without its v.
func agentVersion(ref string) string {
	if ref == "" {
		return kube.NoVersion
	}
	return cmp.Or(strings.TrimPrefix(image.Parse(ref).Tag, "v"), kube.NoVersion)
}

// agentOwner is whom a storage is given to where its blueprint does not say so: an agent works as the user. What others
// may have too, or cannot be written to, is not given away.
func agentOwner(s Spec, storage blueprint.Storage) string {
	if !hasAgent(s.Blueprint) || storage.Readonly || storage.Type == blueprint.StorageShared ||
		storage.ExistingClaim != "" {
		return ""
	}
	uid, gid := int64(s.Identity.UID), int64(s.Identity.GID)
	return owner(&uid, &gid)
}

// scriptFile is the name of the file of an init script, by its number from 1: an agent takes those that are named for
// it, and the shell runtime tells those that always run from the others by it.
func scriptFile(b blueprint.Blueprint, number int, script blueprint.InitScript) string {
	switch {
	case hasAgent(b):
		return fmt.Sprintf("__init_%02d_%s", number, script.Name)
	case script.Always:
		return fmt.Sprintf("%02d_%s", number, script.Name)
	}
	return fmt.Sprintf("%02d-%s", number, script.Name)
}

// agentEnvironment is what an agent, and k8shell's programs in a workspace, find in the environment.
func agentEnvironment(s Spec) map[string]string {
	env := map[string]string{
		"IMAGE": s.Blueprint.Image, "WORKSPACE": s.User.ID(), "BLUEPRINT": s.Blueprint.Name,
		"USERNAME": s.Identity.Username, "USEREMAIL": s.Identity.Email,
		"PROVISIONER_VERSION": "berth", "PROVISION_MODE": "standalone",
	}
	if s.Injected {
		env["PROVISION_MODE"] = "inject"
		env["WORKLOAD_KIND"], env["WORKLOAD_NAME"] = s.User.Workload.Kind, s.User.Workload.Name
		env["WORKLOAD_NAMESPACE"] = s.Namespace
	}
	if s.Repository != nil {
		env["GIT_ADDRESS"], env["GIT_REPOREF"] = s.Repository.URL, s.Repository.Ref
		env["GIT_REPOOWNER"], env["GIT_REPONAME"] = s.User.RepoOwner, s.User.RepoName
	}
	return env
}

// agentConfig is the agent's config.yaml.
func agentConfig(s Spec, fields map[string]any) map[string]any {
	control := s.ControlNamespace
	allowed := []any{}
	for i, account := range []string{"ssh-proxy", "api-server"} {
		from := map[string]any{"namespace": control, "serviceAccount": account}
		if connection, _ := at(fields, "k8shelld", "connection").(map[string]any); i == 0 {
			if connection["allowAnyNS"] == true {
				from["namespace"] = "*"
			}
			if connection["allowAnySA"] == true {
				from["serviceAccount"] = "*"
			}
		}
		if from["namespace"] != "" {
			allowed = append(allowed, from)
		}
	}
	return map[string]any{
		"system": map[string]any{
			"pprof": false, "logLevel": "",
			"apiServer": map[string]any{"enabled": s.reachesAPIServer(), "address": s.APIServer},
			"grpc": map[string]any{
				"port": Port, "enableTLS": s.Certificate != nil && !s.Injected,
				"certFile": "/etc/tls/k8shelld/tls.crt", "keyFile": "/etc/tls/k8shelld/tls.key",
				"certReloadDelay": "0s", "authEnabled": false, "issuerURL": "", "audience": "k8shelld",
				"allowed": allowed,
			},
		},
		// A workspace has no token of the cluster.
		"saToken":          map[string]any{"enabled": false, "cacheTokens": false},
		"terminateOrphans": map[string]any{"enabled": true, "checkInterval": 5, "exclude": excluded(fields)},
		"reapZombies":      map[string]any{"enabled": true},
		"shells": map[string]any{
			"detachedTTL": "30m", "allowUnlimittedTTL": false, "allowSessionDetach": false,
		},
	}
}

// excluded are the expressions of the command lines whose orphans are left alone.
func excluded(fields map[string]any) []any {
	switch ignored := at(fields, "k8shelld", "ignoreOrphans").(type) {
	case []any:
		return ignored
	case bool:
		if ignored {
			return []any{".*"}
		}
	}
	return []any{}
}

// agentProfile is the agent's profile.yaml: who the user is.
func agentProfile(u identity.User) map[string]any {
	return map[string]any{
		"username": u.Username, "organization": u.Organization, "fullname": u.Fullname, "email": u.Email,
		"uid": strconv.Itoa(u.UID), "gid": strconv.Itoa(u.GID), "shell": "", "sudo": u.Sudo, "source": u.Provider,
		"roles": texts(u.Roles), "blueprints": texts(u.Blueprints),
		"account_locked": u.Status == identity.Locked, "password_locked": false, "password_locked_until": nil,
	}
}

// agentBlueprint is the agent's blueprint.yaml: what the blueprint says, below where that comes from.
func agentBlueprint(s Spec, fields map[string]any) (string, error) {
	b := s.Blueprint
	metadata := map[string]any{"name": b.Name, "repoName": "", "repoRef": "", "repoOwner": "", "repoAddress": ""}
	if r := s.Repository; r != nil {
		metadata["repoName"], metadata["repoOwner"] = s.User.RepoName, s.User.RepoOwner
		metadata["repoRef"], metadata["repoAddress"] = r.Ref, r.URL
	}
	text, err := yaml.Marshal(map[string]any{"metadata": metadata, "blueprint": fields})
	chain := cmp.Or(strings.Join(b.Lineage, " < "), b.Name)
	return "# " + strings.Join(strings.Fields(chain), " ") + "\n" + string(text), err
}

func readme(s Spec) string {
	return "These are the files of workspace " + s.User.ID() + ", which berth made for " + s.Identity.Username +
		":\nthe init scripts of blueprint " + s.Blueprint.Name + ", in their order. The agent runs them.\n"
}

// texts are a list of JSON.
func texts(all []string) []any {
	list := []any{}
	for _, text := range all {
		list = append(list, text)
	}
	return list
}
