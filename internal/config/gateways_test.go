package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
)

func loadGateways(t *testing.T, text string) (Config, string, error) {
	t.Helper()
	file := write(t, text)
	t.Setenv("BERTH_CONFIG", file)
	c, err := Load(pflag.NewFlagSet("test", pflag.ContinueOnError), os.Getenv)
	return c, filepath.Dir(file), err
}

// Each kind of credential is read; files are those beside the configuration.
func TestGateways(t *testing.T) {
	c, dir, err := loadGateways(t, `gateways:
- {name: a, url: "https://a.example.com", ca: ca.crt, namespace: dev, credential: {tokenFile: token}}
- {name: b, url: "https://b.example.com:8443/prefix", credential: {command: [token, --now]}}
- {name: c, url: "https://c.example.com", credential: {certificate: {cert: /c.crt, key: c.key}}}
- {name: d, url: "https://d.example.com", credential: {kubeconfig: true}}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Gateway{
		"a": {
			Name: "a", URL: "https://a.example.com", CA: filepath.Join(dir, "ca.crt"), Namespace: "dev",
			Credential: GatewayCredential{TokenFile: filepath.Join(dir, "token")},
		},
		"b": {
			Name: "b", URL: "https://b.example.com:8443/prefix",
			Credential: GatewayCredential{Command: []string{"token", "--now"}},
		},
		"c": {
			Name: "c", URL: "https://c.example.com",
			Credential: GatewayCredential{Certificate: GatewayCertificate{
				Cert: "/c.crt",
				Key:  filepath.Join(dir, "c.key"),
			}},
		},
		"d": {Name: "d", URL: "https://d.example.com", Credential: GatewayCredential{Kubeconfig: true}},
	}
	for name, w := range want {
		if got, found := c.Gateway(name); !found || !reflect.DeepEqual(got, w) {
			t.Errorf("%s is %+v, want %+v", name, got, w)
		}
	}
	if _, found := c.Gateway("e"); found {
		t.Error("there is a gateway e")
	}
}

// What is wrong is said together, each with its place.
func TestGatewaysRefused(t *testing.T) {
	const rest = `, credential: {kubeconfig: true}}`
	for text, says := range map[string]string{
		`{url: "https://a"` + rest:              "gateways[0].name: required",
		`{name: a, url: "http://a"` + rest:      "gateways[0].url: must be https://HOST[:PORT]",
		`{name: a, url: "https://u:p@a"` + rest: "gateways[0].url: must be https://HOST[:PORT]",
		`{name: a, url: "https://a?x=y"` + rest: "gateways[0].url: must be https://HOST[:PORT]",
		`{name: a` + rest:                       "gateways[0].url: must be https://HOST[:PORT]",
		`{name: a, url: "https://a"}`:           "gateways[0].credential: requires exactly one of",
		`{name: a, url: "https://a", credential: {kubeconfig: true, tokenFile: x}}`: "gateways[0].credential: " +
			"requires exactly one of",
		`{name: a, url: "https://a", credential: {command: []}}`: "gateways[0].credential: requires exactly one of",
		`{name: a, url: "https://a", credential: {certificate: {cert: x}}}`: "gateways[0].credential.certificate: " +
			"requires cert and key",
		`{name: a, url: "https://a", credential: {token: x}}`: "token",
		"{name: a, url: \"https://a\"" + rest + "\n- {name: a, url: \"https://b\"" +
			rest: `gateways[1].name: duplicate name "a"`,
	} {
		if _, _, err := loadGateways(t, "gateways:\n- "+text+"\n"); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(strings.Join(append(fault.From(err).Problems, err.Error()), "\n"), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}
