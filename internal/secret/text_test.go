package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

// However a value with a secret in it is printed, the secret is not.
func TestNothingShowsIt(t *testing.T) {
	value := struct{ Password Text }{"hunter2"}
	var said strings.Builder
	for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%q", "%x", "%d"} {
		fmt.Fprintf(&said, verb+"\n"+verb+"\n", value, value.Password)
	}
	asJSON, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	asK8s, err := k8syaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&said, nil)).Info("x", "password", value.Password)
	said.Write(asJSON)
	said.Write(asYAML)
	said.Write(asK8s)
	for _, shown := range []string{"hunter2", "68756e74657232"} {
		if strings.Contains(said.String(), shown) {
			t.Errorf("%s is in:\n%s", shown, said.String())
		}
	}
	if value.Password.Reveal() != "hunter2" {
		t.Error("Reveal does not")
	}
}

// It is read as any text is.
func TestItIsRead(t *testing.T) {
	var value struct{ Password Text }
	if err := yaml.Unmarshal([]byte("password: hunter2"), &value); err != nil || value.Password.Reveal() != "hunter2" {
		t.Errorf("%v, %q", err, value.Password.Reveal())
	}
}
