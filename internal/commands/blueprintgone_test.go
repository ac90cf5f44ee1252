package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// The lookup comes before the blueprint: what runs stays, and what is stopped starts as it
// was, although nothing can be made of the blueprint any more. What takes it says what is
// wrong with it.
func TestProvisionWithoutTheBlueprint(t *testing.T) {
	for name, gone := range map[string]struct {
		blueprints string // the file from then on; removed if empty
		says       string
	}{
		"the blueprint is gone":  {"blueprints: [{name: other, template: base}]", `blueprint "dev" not found`},
		"the source is gone":     {"", "blueprints"},
		"it is a template now":   {"blueprints: [{name: dev, template: base, isTemplate: true}]", "template"},
		"the file is not read":   {"blueprints: [", "blueprints.yaml"},
		"an expression is wrong": {`blueprints: [{name: dev, template: base, image: !cel "user.nosuch"}]`, "nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			cmdtest.Offline(t)
			cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
			directory := filepath.Join(t.TempDir(), "blueprints")
			file := filepath.Join(directory, "blueprints.yaml")
			write := func(text string) {
				if err := os.MkdirAll(directory, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("BERTH_BLUEPRINTS", directory)
			write("blueprints: [{name: dev, template: base}]")
			cmdtest.Must(t, 0, "provision", "alice~dev")
			write(gone.blueprints)
			if gone.blueprints == "" {
				if err := os.RemoveAll(directory); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct {
				args   string
				status int
			}{
				{"provision alice~dev --if-not-exists", 0},
				{"provision alice~dev", 6},
				{"provision alice~dev --dry-run=client", 6},
				{"provision alice~dev -o json --if-not-exists", 0},
				{"stop alice~dev", 0},
				{"provision alice~dev --dry-run=client", 0},
				{"provision alice~dev", 0},
				{"exec alice~dev -- true", 0},
				{"stop alice~dev", 0},
				{"start alice~dev", 0},
			} {
				status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(c.args)...)
				if status != c.status {
					t.Fatalf("berth %s: %d, want %d\n%s\n%s", c.args, status, c.status, stdout, stderr)
				}
				if strings.HasPrefix(c.args, "provision") &&
					(!strings.Contains(stderr, "what its blueprint says now is not known: ") ||
						!strings.Contains(stderr, gone.says)) {
					t.Errorf("berth %s does not say %q:\n%s", c.args, gone.says, stderr)
				}
				if strings.Contains(c.args, "-o json") {
					schematest.Validate(t, []byte(stdout))
				}
			}
			for _, args := range []string{"update alice~dev", "provision alice~dev --update", "provision bob~dev"} {
				if status, _, stderr := cmdtest.Run(t, "", strings.Fields(args)...); status == 0 || status == 6 ||
					!strings.Contains(stderr, gone.says) {
					t.Errorf("berth %s: %d\n%s", args, status, stderr)
				}
			}
		})
	}
}

// What the caller has typed is checked whatever runs.
func TestOverridesOfWhatRuns(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice")
	cmdtest.Must(t, 2, "provision", "alice", "--set", "resources.cpu=much")
}
