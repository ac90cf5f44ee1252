package serve_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/terminal"
)

type cobraCommand = cobra.Command

// freePort is an address on this host that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestManifestsOptions(t *testing.T) {
	forget := func(o *serve.ManifestsOptions) { o.IO = terminal.Streams{} }
	defaults := func(change func(*serve.ManifestsOptions)) serve.ManifestsOptions {
		o := serve.ManifestsOptions{Roles: []string{"bundles"}, Image: "ghcr.io/berthdev/berth:latest", Namespace: "berth-system", Replicas: 2}
		change(&o)
		return o
	}
	cmdtest.Options(t, serve.NewManifests, forget, map[string]cmdtest.Case[serve.ManifestsOptions]{
		"the defaults": {Args: "bundles", Want: defaults(func(*serve.ManifestsOptions) {})},
		"all of it": {
			Args: "bundles --image i --namespace ns --cert-manager Issuer/x --install-role r --replicas 1",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Image, o.Namespace, o.Issuer, o.InstallRole, o.Replicas = "i", "ns", "Issuer/x", "r", 1
			}),
		},
		"no role":         {Err: "a role is required: bundles or gateway"},
		"an unknown role": {Args: "bundles x", Err: `unknown role "x": must be one of bundles, gateway`},
		"no image":        {Args: "bundles --image=", Err: "--image must not be empty"},
		"no pods":         {Args: "bundles --replicas 0", Err: "--replicas must be at least 1, got 0"},
		"no namespace":    {Args: "bundles --namespace A", Err: `--namespace must be the name of a namespace, got "A"`},
		"no issuer":       {Args: "bundles --cert-manager Secret/x", Err: `--cert-manager must be NAME, Issuer/NAME or ClusterIssuer/NAME, got "Secret/x"`},
	})
}

func TestManifests(t *testing.T) {
	streams, out := terminal.Test("", time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC))
	o := &serve.ManifestsOptions{IO: streams, Roles: []string{"bundles", "bundles"}, Image: "i", Namespace: "ns", Replicas: 2}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text := out.Out.String()
	for _, want := range []string{
		"kind: CustomResourceDefinition", "name: bundleinstances.core.rukpak.io", "kind: Deployment", "name: bundle-reader",
		"--base-url=https://berth-bundles.ns.svc", "BEGIN PRIVATE KEY",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("what is printed has no %s", want)
		}
	}
	if n := strings.Count(text, "kind: Deployment"); n != 1 {
		t.Errorf("a role that is named twice is printed %d times", n)
	}
	if said := out.Err.String(); !strings.Contains(said, "good until 2028-11-21") || !strings.Contains(said, "--install-role") {
		t.Errorf("it says %q", said)
	}
	streams, out = terminal.Test("", time.Now())
	o.Trust = server.Trust{Hosts: []string{"a.example.com", "b:1"}, CAFile: certtest.New(t).File}
	o.IO, o.Issuer, o.InstallRole = streams, "x", "cluster-admin"
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.Out.String(), "kind: Secret") || !strings.Contains(out.Out.String(), "kind: Certificate") {
		t.Error("cert-manager makes the certificate")
	}
	for _, want := range []string{"--content-host=a.example.com,b:1", "--content-ca=/etc/berth/authorities/ca.crt", "name: berth-bundles-authorities", "BEGIN CERTIFICATE"} {
		if !strings.Contains(out.Out.String(), want) {
			t.Errorf("what is printed has no %s", want)
		}
	}
	if said := out.Err.String(); said != "Whoever may create a bundle instance installs with the ClusterRole cluster-admin.\n" {
		t.Errorf("it says %q", said)
	}
}

// The gateway has its names, the ClusterRole for users, and the authorities of clients.
func TestManifestsOfTheGateway(t *testing.T) {
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{IO: streams, Roles: []string{"gateway"}, Image: "i", Namespace: "ns", Replicas: 2, Hosts: []string{"berth.example.com"}, ClientCA: certtest.New(t).File}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"name: workspace-user", "workspaces/exec", "--client-ca=/etc/berth/authorities/ca.crt", "name: berth-gateway-authorities"} {
		if !strings.Contains(out.Out.String(), want) {
			t.Errorf("what is printed has no %s", want)
		}
	}
	streams, out = terminal.Test("", time.Now())
	o.IO, o.ClientCA = streams, ""
	if err := serve.Manifests(t.Context(), o); err != nil || strings.Contains(out.Out.String(), "client-ca") {
		t.Errorf("%v; client certificates are taken by default", err)
	}
}
