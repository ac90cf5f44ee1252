package release

import (
	"encoding/base64"
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/secret"
)

// PullSecretName is the namespace's Secret with which images are pulled.
const PullSecretName = "k8shell-pull-secret" //nolint:gosec // a name, not a password

// Registry is a private image registry and who pulls from it.
type Registry struct {
	Server   string
	Username string
	Password secret.Text
}

// dockerHub is under which docker.io stands in a Docker configuration.
const dockerHub = "https://index.docker.io/v1/"

// PullSecret is the Secret for a registry. It is no part of a release, so that
// Helm's record never has it.
func PullSecret(r Registry) *unstructured.Unstructured {
	password := r.Password.Reveal()
	entry := map[string]any{
		"username": r.Username, "password": password,
		"auth": base64.StdEncoding.EncodeToString([]byte(r.Username + ":" + password)),
	}
	server := r.Server
	if server == "docker.io" || server == "index.docker.io" {
		server = dockerHub
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": string(corev1.SecretTypeDockerConfigJson)}}
	object.SetName(PullSecretName)
	setDockerConfig(object, map[string]any{"auths": map[string]any{server: entry}})
	return object
}

// mergePullSecret lays the registries of wanted over those of current and says
// whether that changes anything: the namespace's other registries stay.
func mergePullSecret(current, wanted *unstructured.Unstructured) (merged *unstructured.Unstructured, changed bool, err error) {
	have, err := dockerConfig(current)
	if err != nil {
		return nil, false, err
	}
	want, err := dockerConfig(wanted)
	if err != nil {
		return nil, false, err
	}
	auths, _ := have["auths"].(map[string]any)
	if auths == nil {
		auths = map[string]any{}
	}
	entries, _ := want["auths"].(map[string]any)
	for server, entry := range entries {
		if !reflect.DeepEqual(auths[server], entry) {
			auths[server], changed = entry, true
		}
	}
	have["auths"] = auths
	merged = current.DeepCopy()
	setDockerConfig(merged, have)
	return merged, changed, nil
}

func dockerConfig(object *unstructured.Unstructured) (map[string]any, error) {
	encoded, _, _ := unstructured.NestedString(object.Object, "data", corev1.DockerConfigJsonKey)
	text, err := base64.StdEncoding.DecodeString(encoded)
	var config map[string]any
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "%s cannot be read: it is no Docker configuration", kube.Object("Secret", object.GetName())).
			WithHint("delete it; berth makes it anew")
	}
	if config == nil {
		config = map[string]any{}
	}
	return config, nil
}

func setDockerConfig(object *unstructured.Unstructured, config map[string]any) {
	text, err := json.Marshal(config)
	if err != nil {
		return // maps of texts, just read from JSON or made here
	}
	object.Object["data"] = map[string]any{corev1.DockerConfigJsonKey: base64.StdEncoding.EncodeToString(text)}
}
