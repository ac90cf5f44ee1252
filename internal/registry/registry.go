// Package registry knows container registries: how images name them, and the credentials to pull from them.
package registry

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/secret"
)

// DefaultHost is the registry of an image that does not name one.
const DefaultHost = "docker.io"

// Login is an account at a registry.
type Login struct {
	Server   string // host, with its port if it has one
	Username string
	Password secret.Text
}

// Qualify writes out the registry of an image, which is the default one if the image does not name it; empty is
// DefaultHost. As in Docker, the first part of a name is a host if it has a dot or a colon, or is localhost.
func Qualify(image, defaultHost string) string {
	if image == "" {
		return ""
	}
	first, rest, ok := strings.Cut(image, "/")
	if ok && rest != "" && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return image
	}
	host := cmp.Or(defaultHost, DefaultHost)
	if host == DefaultHost && !ok {
		return host + "/library/" + image
	}
	return host + "/" + image
}

// PullSecretName is the Secret of the namespace that images are pulled with.
const PullSecretName = "k8shell-pull-secret" //nolint:gosec // a name, not a password

// PullSecret is the Secret for a login. It does not belong to a release, so that Helm's record never holds it.
func PullSecret(l Login) *unstructured.Unstructured {
	object := kube.Named("Secret", PullSecretName)
	object.Object["type"] = string(corev1.SecretTypeDockerConfigJson)
	setDockerConfig(object, l.dockerConfig())
	return object
}

// MergePullSecret is wanted with the other logins of current. It returns nil if current has all of wanted.
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

// dockerHub is the key of docker.io in a Docker configuration.
const dockerHub = "https://index.docker.io/v1/"

// dockerConfig is a config.json of Docker, including what else it holds than auths.
type dockerConfig map[string]any

func (l Login) dockerConfig() dockerConfig {
	server := l.Server
	if server == DefaultHost || server == "index.docker.io" {
		server = dockerHub
	}
	password := l.Password.Reveal()
	return dockerConfig{"auths": map[string]any{server: map[string]any{
		"username": l.Username, "password": password,
		"auth": base64.StdEncoding.EncodeToString([]byte(l.Username + ":" + password)),
	}}}
}

// add adds the logins of other, and reports whether that changes anything.
func (c dockerConfig) add(other dockerConfig) (changed bool) {
	auths, ok := c["auths"].(map[string]any)
	if !ok {
		auths = map[string]any{}
	}
	added, _ := other["auths"].(map[string]any)
	for server, login := range added {
		if !reflect.DeepEqual(auths[server], login) {
			auths[server], changed = login, true
		}
	}
	c["auths"] = auths
	return changed
}
