package registry

import (
	"encoding/base64"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// PullSecretName is the Secret of the namespace that images are pulled with.
const PullSecretName = "k8shell-pull-secret" //nolint:gosec // a name, not a password

// PullSecret is the Secret for a login. It does not belong to a release, so that
// Helm's record never holds it.
func PullSecret(l Login) *unstructured.Unstructured {
	object := kube.Named("Secret", PullSecretName)
	object.Object["type"] = string(corev1.SecretTypeDockerConfigJson)
	setDockerConfig(object, l.dockerConfig())
	return object
}

// MergePullSecret is wanted with the other logins of current. It returns nil if
// current has all of wanted.
func MergePullSecret(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	config, err := getDockerConfig(current)
	if err != nil {
		return nil, err
	}
	added, err := getDockerConfig(wanted)
	if err != nil || !config.add(added) {
		return nil, err
	}
	merged := wanted.DeepCopy()
	setDockerConfig(merged, config)
	return merged, nil
}

func getDockerConfig(object *unstructured.Unstructured) (dockerConfig, error) {
	encoded, _, _ := unstructured.NestedString(object.Object, "data", corev1.DockerConfigJsonKey)
	text, err := base64.StdEncoding.DecodeString(encoded)
	var config dockerConfig
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "%s does not hold a valid Docker configuration",
			kube.Object("Secret", object.GetName())).
			WithHint("delete it; berth creates a new one")
	}
	if config == nil {
		config = dockerConfig{}
	}
	return config, nil
}

func setDockerConfig(object *unstructured.Unstructured, config dockerConfig) {
	text, _ := json.Marshal(config) // strings in maps
	object.Object["data"] = map[string]any{corev1.DockerConfigJsonKey: base64.StdEncoding.EncodeToString(text)}
}
