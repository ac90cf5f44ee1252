package cmdutil

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

// configured is a factory with a kubeconfig and a configuration, which counts how
// often the latter is looked for.
func configured(t *testing.T, config string) (f *Factory, reads *int) {
	t.Helper()
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("KUBECONFIG", write("kubeconfig", `{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: "http://127.0.0.1:1"}}],
contexts: [{name: x, context: {cluster: x, namespace: team}}]}`))
	path := write("config.yaml", config)
	streams, _ := terminal.Test("", time.Time{})
	reads = new(int)
	return NewFactory(streams, func(name string) string {
		if name != "BERTH_CONFIG" {
			return ""
		}
		*reads++
		return path
	}), reads
}

func TestConfigurationIsReadOnce(t *testing.T) {
	f, reads := configured(t, "defaultBlueprint: dev")
	if *reads != 0 {
		t.Error("the configuration is read before it is needed")
	}
	cmd := &cobra.Command{Use: "x"}
	deps := f.For(cmd)
	p, err := deps.Provisioner()
	if err != nil || p.DefaultBlueprint != "dev" || p.Users == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	recorders, err := deps.Recorders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recorders.Close()
	if _, err := p.Blueprints(t.Context()); err != nil {
		t.Fatal(err)
	}
	if *reads != 1 {
		t.Errorf("the configuration is read %d times", *reads)
	}
	again, err := deps.Inventory()
	if err != nil || again.Client != p.Client {
		t.Errorf("another connection is made, %v", err)
	}
}

// Entering a workspace does not depend on the configuration.
func TestWorkspacesNeedNoConfiguration(t *testing.T) {
	f, reads := configured(t, "identity: {providers: [{kind: nonsense}]}")
	reader, err := f.Workspaces()
	if err != nil || reader.Client.Namespace != "team" || *reads != 0 {
		t.Errorf("%+v, %v, %d reads", reader, err, *reads)
	}
	if _, err := f.For(&cobra.Command{}).Provisioner(); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a provisioning with a wrong provider: %v", err)
	}
}
