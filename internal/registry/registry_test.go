package registry

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
)

func TestQualify(t *testing.T) {
	for image, want := range map[string]string{
		"":                   "",
		"alpine":             "docker.io/library/alpine",
		"team/dev:1":         "docker.io/team/dev:1",
		"ghcr.io/team/dev":   "ghcr.io/team/dev",
		"localhost/dev":      "localhost/dev",
		"localhost:5000/dev": "localhost:5000/dev",
		"registry.local/a/b": "registry.local/a/b",
	} {
		if got := Qualify(image, ""); got != want {
			t.Errorf("%s becomes %s, want %s", image, got, want)
		}
	}
	if got := Qualify("dev:1", "registry.example.com"); got != "registry.example.com/dev:1" {
		t.Error(got)
	}
}

// secretOf is a pull secret with a Docker configuration.
func secretOf(config string) *unstructured.Unstructured {
	object := PullSecret(Login{})
	object.Object["data"] = map[string]any{
		corev1.DockerConfigJsonKey: base64.StdEncoding.EncodeToString([]byte(config)),
	}
	return object
}

func configOf(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	config, err := getDockerConfig(object)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestPullSecret(t *testing.T) {
	for server, key := range map[string]string{
		"registry.example.com:5000": "registry.example.com:5000",
		"docker.io":                 "https://index.docker.io/v1/",
		"index.docker.io":           "https://index.docker.io/v1/",
	} {
		object := PullSecret(Login{Server: server, Username: "bot", Password: "hunter2"})
		want := map[string]any{"auths": map[string]any{key: map[string]any{
			"username": "bot", "password": "hunter2",
			"auth": "Ym90Omh1bnRlcjI=",
		}}}
		if diff := cmp.Diff(want, configOf(t, object)); diff != "" {
			t.Error(diff)
		}
		if object.Object["type"] != "kubernetes.io/dockerconfigjson" || object.GetName() != "k8shell-pull-secret" {
			t.Errorf("%+v", object.Object)
		}
	}
}

func TestMergePullSecret(t *testing.T) {
	const login = `{"username": "bot", "password": "x", "auth": "Ym90Ong="}`
	wanted := PullSecret(Login{Server: "a", Username: "bot", Password: "x"})
	for name, test := range map[string]struct {
		current, merged string // merged is empty if nothing changes
	}{
		"the same":         {`{"auths": {"a": ` + login + `}}`, ""},
		"another password": {`{"auths": {"a": {"auth": "old"}}}`, `{"auths": {"a": ` + login + `}}`},
		"others stay": {`{"auths": {"b": {"auth": "b"}}, "credsStore": "s"}`, `{"auths": {"a": ` + login +
			`, "b": {"auth": "b"}}, "credsStore": "s"}`},
		"no logins":           {`{}`, `{"auths": {"a": ` + login + `}}`},
		"null":                {`null`, `{"auths": {"a": ` + login + `}}`},
		"empty":               {``, `{"auths": {"a": ` + login + `}}`},
		"logins of no object": {`{"auths": 1}`, `{"auths": {"a": ` + login + `}}`},
	} {
		merged, err := MergePullSecret(secretOf(test.current), wanted)
		if err != nil || (merged == nil) != (test.merged == "") {
			t.Errorf("%s: %v %v", name, merged, err)
			continue
		}
		if merged == nil {
			continue
		}
		if diff := cmp.Diff(configOf(t, secretOf(test.merged)), configOf(t, merged)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := MergePullSecret(secretOf("{"), wanted); fault.CodeOf(err) != fault.Failed ||
		!strings.Contains(err.Error(), "k8shell-pull-secret") {
		t.Error(err)
	}
}

// Docker Hub has a key of its own in the configuration of Docker, by which the kubelet knows it.
func TestPullSecretOfDockerHub(t *testing.T) {
	for server, key := range map[string]string{
		"docker.io": "https://index.docker.io/v1/", "index.docker.io": "https://index.docker.io/v1/",
		"registry.example.com:5000": "registry.example.com:5000",
	} {
		config, err := getDockerConfig(PullSecret(Login{Server: server, Username: "alice", Password: "hunter2"}))
		auths, _ := config["auths"].(map[string]any)
		if _, ok := auths[key]; err != nil || !ok || len(auths) != 1 {
			t.Errorf("%s: %v, %v", server, config, err)
		}
	}
}
