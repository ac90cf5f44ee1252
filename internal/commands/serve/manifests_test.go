package serve_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
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
	forget := func(o *serve.ManifestsOptions) { o.IO, o.Getenv = terminal.Streams{}, nil }
	defaults := func(change func(*serve.ManifestsOptions)) serve.ManifestsOptions {
		o := serve.ManifestsOptions{
			Roles: []string{"bundles"}, Image: "ghcr.io/berthdev/berth:latest",
			Namespace: "berth-system", Replicas: 2, Capacity: serve.DefaultCapacity(), Scratch: serve.DefaultScratch(),
			Period: 10 * time.Minute,
		}
		change(&o)
		return o
	}
	cmdtest.Options(t, serve.NewManifests, forget, map[string]cmdtest.Case[serve.ManifestsOptions]{
		"the defaults": {Args: "bundles", Want: defaults(func(*serve.ManifestsOptions) {})},
		"all of it": {
			Args: "bundles --image i --namespace ns --cert-manager Issuer/x --install-role r --replicas 1 " +
				"--period 1m",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Period = time.Minute
				o.Image, o.Namespace, o.Issuer, o.InstallRole, o.Replicas = "i", "ns", "Issuer/x", "r", 1
			}),
		},
		"a gateway with machines": {
			Args: "gateway --host a.example.com,10.0.0.1,*.b --machine-pool p --target-kubeconfig f " +
				"--target-namespace n --machine-namespace m --max-sessions 9 --max-sessions-per-user 8",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Roles, o.Hosts, o.Capacity = []string{"gateway"}, []string{"a.example.com", "10.0.0.1", "*.b"},
					serve.Capacity{Sessions: 9, SessionsPerUser: 8}
				o.MachinePool, o.TargetKubeconfig, o.TargetNamespace, o.MachineNamespace = "p", "f", "n", "m"
			}),
		},
		"a pool without a gateway": {
			Args: "bundles --machine-pool p --target-kubeconfig f",
			Err:  "--machine-pool requires the role gateway",
		},
		"a pool without machines": {
			Args: "gateway --machine-pool p",
			Err:  "--machine-pool and --target-kubeconfig are given together",
		},
		"one namespace": {
			Args: "workspaces --only team",
			Want: defaults(func(o *serve.ManifestsOptions) { o.Roles, o.Only = []string{"workspaces"}, "team" }),
		},
		"a namespace of another role": {Args: "bundles --only team", Err: "--only requires the role workspaces"},
		"no namespace of workspaces": {
			Args: "workspaces --only A",
			Err:  `--only must be the name of a namespace, got "A"`,
		},
		"a configuration of another role": {
			Args: "gateway --configuration c",
			Err:  "--configuration requires the role workspaces",
		},
		"scratch volumes": {
			Args: "volumes --afterlife 24h --headroom 0.2 --max-volumes 5 --max-queued 9 --kubelet-directory /k " +
				"--directory /d --driver-name n.example.com",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Roles, o.Namespace = []string{"volumes"}, "berth-volumes"
				o.Scratch = serve.Scratch{
					Driver: "n.example.com", Directory: "/d", Kubelet: "/k", Afterlife: 24 * time.Hour,
					PruneInterval: 5 * time.Second, Headroom: 0.2, MaxVolumes: 5, MaxQueued: 9,
				}
			}),
		},
		"in the place of katbox": {
			Args: "volumes --like katbox",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Roles, o.Namespace, o.Like = []string{"volumes"}, "berth-volumes", "katbox"
				o.Driver, o.Directory = "katbox.csi.paypal.com", "/var/lib/csi-katbox-data"
			}),
		},
		"in the place of a katbox of another name": {
			Args: "volumes --like katbox --drivername k.example.com --workdir /k --afterlifespan 3h",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Roles, o.Namespace, o.Like = []string{"volumes"}, "berth-volumes", "katbox"
				o.Driver, o.Directory, o.Afterlife = "k.example.com", "/k", 3*time.Hour
			}),
		},
		"in the place of another driver": {
			Args: "volumes --like hostpath",
			Err:  `--like must be katbox, got "hostpath"`,
		},
		"scratch volumes for readers": {
			Args: "volumes --read --read-host-port 9443 --host volumes.example.com",
			Want: defaults(func(o *serve.ManifestsOptions) {
				o.Roles, o.Namespace, o.Scratch = []string{"volumes"}, "berth-volumes", serve.DefaultScratch()
				o.Read, o.ReadHostPort, o.Hosts = true, 9443, []string{"volumes.example.com"}
			}),
		},
		"readers of another role":     {Args: "bundles --read", Err: "--read requires the role volumes"},
		"a port of nodes for nothing": {Args: "volumes --read-host-port 9443", Err: "--read-host-port requires --read"},
		"an invalid port": {
			Args: "volumes --read --read-host-port 70000", Err: "--read-host-port must be a port, got 70000",
		},
		"katbox for another role": {Args: "bundles --like katbox", Err: "--like requires the role volumes"},
		"scratch volumes elsewhere": {Args: "volumes --namespace ns", Want: defaults(func(o *serve.ManifestsOptions) {
			o.Roles, o.Namespace, o.Scratch = []string{"volumes"}, "ns", serve.DefaultScratch()
		})},
		"volumes beside another role": {Args: "volumes bundles", Err: "the role volumes is printed alone"},
		"an afterlife of another role": {
			Args: "bundles --afterlife 1h",
			Err:  "[--afterlife=1h0m0s] require the role volumes",
		},
		"no period": {Args: "bundles --period 0s", Err: "--period must be positive, got 0s"},
		"the period of another role": {
			Args: "gateway --period 1m",
			Err:  "--period requires the role bundles",
		},
		"too much headroom": {Args: "volumes --headroom 1.5", Err: "--headroom must be from 0 to 1, got 1.5"},
		"no sessions":       {Args: "gateway --max-sessions 0", Err: "--max-sessions must be at least 1, got 0"},
		"no host": {
			Args: "gateway --host https://a",
			Err:  `--host must be a DNS name or an IP address, got "https://a"`,
		},
		"no role": {Err: "a role is required: one of bundles, gateway, volumes, workspaces"},
		"an unknown role": {
			Args: "bundles x",
			Err:  `unknown role "x": must be one of bundles, gateway, volumes, workspaces`,
		},
		"no image": {Args: "bundles --image=", Err: "--image must not be empty"},
		"no pods":  {Args: "bundles --replicas 0", Err: "--replicas must be at least 1, got 0"},
		"no namespace": {
			Args: "bundles --namespace A",
			Err:  `--namespace must be the name of a namespace, got "A"`,
		},
		"no issuer": {
			Args: "bundles --cert-manager Secret/x",
			Err:  `--cert-manager must be NAME, Issuer/NAME or ClusterIssuer/NAME, got "Secret/x"`,
		},
	})
}

func TestManifests(t *testing.T) {
	streams, out := terminal.Test("", time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC))
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"bundles", "bundles"}, Image: "i", Namespace: "ns",
		Replicas: 2, Period: 10 * time.Minute,
	}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text := out.Out.String()
	if strings.Contains(text, "--period") {
		t.Error("the default is printed, which another version may have changed")
	}
	for _, want := range []string{
		"kind: CustomResourceDefinition", "name: bundleinstances.core.rukpak.io", "kind: Deployment",
		"name: bundle-reader",
		"--base-url=https://berth-bundles.ns.svc", "BEGIN PRIVATE KEY",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("what is printed has no %s", want)
		}
	}
	if n := strings.Count(text, "kind: Deployment"); n != 1 {
		t.Errorf("a role that is named twice is printed %d times", n)
	}
	if said := out.Err.String(); !strings.Contains(said, "good until 2028-11-21") ||
		!strings.Contains(said, "--install-role") {
		t.Errorf("it says %q", said)
	}
	streams, out = terminal.Test("", time.Now())
	o.Trust = server.Trust{Hosts: []string{"a.example.com", "b:1"}, CAFile: certtest.New(t).File}
	o.IO, o.Issuer, o.InstallRole, o.Period = streams, "x", "cluster-admin", time.Hour
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.Out.String(), "kind: Secret") || !strings.Contains(out.Out.String(), "kind: Certificate") {
		t.Error("cert-manager makes the certificate")
	}
	for _, want := range []string{
		"--period=1h0m0s", "--content-host=a.example.com,b:1", "--content-ca=/etc/berth/authorities/ca.crt",
		"name: berth-bundles-authorities", "BEGIN CERTIFICATE",
	} {
		if !strings.Contains(out.Out.String(), want) {
			t.Errorf("what is printed has no %s", want)
		}
	}
	if said := out.Err.String(); said != "Anyone who may create a bundle instance installs with the ClusterRole "+
		"cluster-admin.\n" {
		t.Errorf("it says %q", said)
	}
}

// The gateway has its names, the ClusterRole for users, and the authorities of clients.
func TestManifestsOfTheGateway(t *testing.T) {
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"gateway"}, Image: "i", Namespace: "ns", Replicas: 2,
		Capacity: serve.DefaultCapacity(), Hosts: []string{"berth.example.com"}, ClientCA: certtest.New(t).File,
	}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"name: workspace-user", "workspaces/exec", "--client-ca=/etc/berth/authorities/ca.crt",
		"name: berth-gateway-authorities",
	} {
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

// target is a kubeconfig with a file beside it and a context that is not used.
const target = `
apiVersion: v1
kind: Config
clusters: [{name: far, cluster: {server: "https://far.example.com", certificate-authority: ca.crt}}]
users: [{name: poollet, user: {token: an-example}}, {name: boss, user: {token: of-the-boss}}]
contexts: [{name: far, context: {cluster: far, user: poollet}}, {name: boss, context: {cluster: far, user: boss}}]
current-context: far
`

// The socket of a machine runtime is mounted where it is on the node, and it is said what that takes.
func TestManifestsOfRuntime(t *testing.T) {
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"gateway"}, Image: "registry.example.com/berth:v1", Namespace: "berth-system",
		Replicas: 1, Issuer: "ours", Capacity: serve.DefaultCapacity(),
		Machines: serve.Machines{MachinePool: "east", Endpoint: "unix:///var/run/machines/iri.sock"},
	}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	printed := out.Out.String()
	for _, want := range []string{
		"--iri-endpoint=unix:///etc/berth/host/iri.sock", "mountPath: /etc/berth/host\n",
		"path: /var/run/machines\n", "machine-pool-east-user", "pod-security.kubernetes.io/enforce: privileged",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if strings.Contains(printed, "target-kubeconfig") || !strings.Contains(out.Err.String(), "privileged") {
		t.Errorf("it says %q of\n%s", out.Err.String(), printed)
	}
}

// What is printed for a pool, with the kubeconfig as it works in a pod.
func TestManifestsOfAPool(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config": target, "ca.crt": "the CA",
		"exec": strings.Replace(target, "token: an-example", "tokenFile: t", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"gateway"}, Image: "registry.example.com/berth:v1", Namespace: "berth-system",
		Replicas: 1, Issuer: "ours",
		Hosts: []string{"pool.example.com", "10.0.0.1"}, Capacity: serve.Capacity{Sessions: 500, SessionsPerUser: 200},
		Machines: serve.Machines{
			MachinePool: "east", TargetKubeconfig: filepath.Join(dir, "config"),
			TargetNamespace: "broker", MachineNamespace: "shop",
		},
	}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	goldentest.Check(t, "pool.yaml", out.Out.String())
	if said := out.Err.String(); said != "The Secret berth-gateway-target that is printed holds the credential of "+
		"--target-kubeconfig.\nWithout --client-ca the API server of machines is not let in: it has a client "+
		"certificate, and no token.\n" {
		t.Errorf("it says %q", said)
	}
	streams, out = terminal.Test("", time.Now())
	o.IO, o.Reporting = streams, serve.Reporting{ReportPool: true, PoolClasses: []string{"small=20", "large=4/2"}}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	goldentest.Check(t, "reported.yaml", out.Out.String())
	streams, out = terminal.Test("", time.Now())
	o.IO, o.Roles, o.TargetKubeconfig = streams, []string{"bundles", "gateway"}, filepath.Join(dir, "exec")
	if err := serve.Manifests(t.Context(), o); fault.CodeOf(err) != fault.InvalidArgument || out.Out.String() != "" {
		t.Errorf("%v, and %q is printed", err, out.Out.String())
	}
}

// The role workspaces is asked by nobody, and has its configuration in a Secret. A wrong one is refused before anything
// is printed.
func TestManifestsOfWorkspaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("limits: {maxActiveHours: 36}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"workspaces"}, Image: "registry.example.com/berth:v1", Namespace: "berth-system",
		Replicas: 2, Issuer: "ours",
		Configuration: file, Getenv: func(string) string { return "" },
	}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	goldentest.Check(t, "workspaces.yaml", out.Out.String())
	if said := out.Err.String(); said != "The Secret berth-workspaces-configuration that is printed holds the file of "+
		"--configuration.\n" {
		t.Errorf("it says %q", said)
	}
	o.IO, out = terminal.Test("", time.Now())
	o.Only = "team"
	// Everywhere it may only read its policy.
	if err := serve.Manifests(t.Context(), o); err != nil ||
		strings.Count(out.Out.String(), "ClusterRoleBinding") != 1 ||
		!strings.Contains(out.Out.String(), "kind: ClusterRole\n  name: berth-workspaces-guard\n") ||
		!strings.Contains(out.Out.String(), "name: berth-workspaces-only\n  namespace: team\n") ||
		!strings.Contains(out.Out.String(), "--only=team") {
		t.Errorf("%v:\n%s", err, out.Out.String())
	}
	if err := os.WriteFile(file, []byte("limits: {maxActiveHour: 36}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.IO, out = terminal.Test("", time.Now())
	if err := serve.Manifests(t.Context(), o); fault.CodeOf(err) != fault.InvalidArgument || out.Out.String() != "" {
		t.Errorf("%v, and %q is printed", err, out.Out.String())
	}
}

// The role bundles gets the keys by which bundles have to be signed, and nothing else of the configuration; one that it
// could not start with is refused before anything is printed.
func TestManifestsOfVerifiedBundles(t *testing.T) {
	dir := t.TempDir()
	const key = "-----BEGIN PUBLIC KEY-----\n" +
		"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"
	file := filepath.Join(dir, "config.yaml")
	for name, text := range map[string]string{
		"cosign.pub": key,
		"config.yaml": "bundles: {verify: required, keys: [cosign.pub]}\n" +
			"registry: {server: x, username: u, password: hunter2}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"bundles"}, Image: "i", Namespace: "berth-system", Replicas: 2, Issuer: "ours",
		Configuration: file, Getenv: func(string) string { return "" },
	}
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text := out.Out.String()
	for _, want := range []string{
		"name: berth-bundles-configuration\n", "value: /etc/berth/configuration/config.yaml", "verify: required",
		"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "hunter2") {
		t.Error("a password is printed")
	}
	if err := os.WriteFile(file, []byte("bundles: {verify: required}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.IO, out = terminal.Test("", time.Now())
	if err := serve.Manifests(t.Context(), o); fault.CodeOf(err) != fault.InvalidArgument || out.Out.String() != "" {
		t.Errorf("%v, and %q is printed", err, out.Out.String())
	}
}
