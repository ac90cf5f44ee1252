package cmdutil

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/fault"
)

const twoGateways = `gateways:
- {name: office, url: "https://office.example.com", credential: {tokenFile: token}}
- {name: lab, url: "https://lab.example.com", ca: ca.crt, namespace: lab, credential: {command: [token]}}
- {name: cluster, url: "https://cluster.example.com", credential: {kubeconfig: true}}
`

// The namespace is that of the argument, of the flag, of the gateway, or of the kubeconfig, in
// this order.
func TestThrough(t *testing.T) {
	for name, c := range map[string]struct {
		flag, gateway, target string
		want                  gateway.Destination
	}{
		"of the kubeconfig": {
			"", "office", "id/alice-2bd806c",
			gateway.Destination{Namespace: "team", Workspace: "alice-2bd806c", Container: "side"},
		},
		"of the gateway": {
			"", "lab", "id/alice-2bd806c",
			gateway.Destination{Namespace: "lab", Workspace: "alice-2bd806c", Container: "side"},
		},
		"of the flag": {
			"dev", "lab", "id/alice-2bd806c",
			gateway.Destination{Namespace: "dev", Workspace: "alice-2bd806c", Container: "side"},
		},
		"of an ID": {
			"dev", "lab", "alice-2bd806c",
			gateway.Destination{Namespace: "dev", Workspace: "alice-2bd806c", Container: "side"},
		},
		"with an OS user": {
			"dev", "lab", "alice~dev+user=root",
			gateway.Destination{Namespace: "dev", Workspace: "alice-59936c3", Container: "side", User: "root"},
		},
		"of a machine": {"dev", "lab", "machine/vm", gateway.Destination{
			Namespace: "dev", Machine: "vm",
			Container: "side",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := configured(t, twoGateways)
			*f.Kube.Namespace = c.flag
			g, to, err := f.For(&cobra.Command{Use: "x"}).Through(t.Context(), c.gateway, c.target, "side")
			if err != nil || to != c.want || g.Name != c.gateway || g.URL != "https://"+c.gateway+".example.com" {
				t.Errorf("%+v, %+v, %v; want %+v", g, to, err, c.want)
			}
		})
	}
}

// A gateway gets the one credential that it is configured with.
func TestCredentialOfAGateway(t *testing.T) {
	for name, has := range map[string]func(gateway.Gateway) bool{
		"office": func(g gateway.Gateway) bool { return g.Token != nil && g.Token.File != "" && g.Kubeconfig == nil },
		"lab": func(g gateway.Gateway) bool {
			return g.Token != nil && g.Token.Command != nil &&
				g.Kubeconfig == nil
		},
		"cluster": func(g gateway.Gateway) bool { return g.Token == nil && g.Kubeconfig != nil },
	} {
		f, _ := configured(t, twoGateways)
		g, _, err := f.For(&cobra.Command{Use: "x"}).Through(t.Context(), name, "id/alice-2bd806c", "")
		if err != nil || !has(g) || g.CertFile != "" || g.KeyFile != "" {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

func TestThroughRefuses(t *testing.T) {
	f, _ := configured(t, twoGateways)
	deps := f.For(&cobra.Command{Use: "x"})
	for target, says := range map[string]string{
		"none alice":    `gateway "none" is not in the configuration`,
		"office Ali ce": "Ali ce",
	} {
		name, target, _ := strings.Cut(target, " ")
		if _, err := deps.Gateway(t.Context(), name, target, ""); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
