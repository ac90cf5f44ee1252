package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/doctor"
)

func TestOptions(t *testing.T) {
	forget := func(o *doctor.Options) { o.Dependencies = nil }
	cmdtest.Options(t, doctor.NewCmd, forget, map[string]cmdtest.Case[doctor.Options]{
		"the defaults": {Want: doctor.Options{Timeout: 5 * time.Second}},
		"a timeout":    {Args: "--timeout 1m -n t --blueprints bp", Want: doctor.Options{Timeout: time.Minute}},
		"no time":      {Args: "--timeout 0s", Err: "--timeout must be positive, got 0s"},
		"an argument":  {Args: "x", Err: `unexpected argument "x"`},
	})
}

// Without a cluster the local checks run, and what is wrong is the exit status.
func TestDoctorWithoutCluster(t *testing.T) {
	cmdtest.Offline(t)
	stdout, _ := cmdtest.Must(t, 3, "doctor", "-o", `jsonpath={range .items[*]}{.name} {.status}{"\n"}{end}`)
	if want := "configuration ok\nkubeconfig failed\nblueprints ok\n"; stdout != want {
		t.Errorf("got %q, want %q", stdout, want)
	}
}

// What is wrong with the configuration and with the blueprints is all said at once, each
// where it is; a line of the configuration, which may have a password in it, is not shown.
func TestDoctorSaysAllThatIsWrong(t *testing.T) {
	cmdtest.Offline(t)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.yaml", "blueprnts: .\nregistry: {server: a/b, username: x, pasword: hunter2}\n"+
		"policy: {name: hasty}\n")
	t.Setenv("BERTH_CONFIG", filepath.Join(dir, "config.yaml"))
	stdout, _ := cmdtest.Must(t, 3, "doctor")
	for _, says := range []string{
		"config.yaml:1:1: unknown field \"blueprnts\": did you mean blueprints?",
		"config.yaml:2:20: registry.server: invalid hostname \"a/b\"",
		"config.yaml:2:38: unknown field \"pasword\": did you mean password?",
		"config.yaml:3:16: policy.name \"hasty\": must be one of",
	} {
		if !strings.Contains(stdout, says) {
			t.Errorf("nothing says %q:\n%s", says, stdout)
		}
	}
	if strings.Contains(stdout, "hunter2") {
		t.Errorf("a password is shown:\n%s", stdout)
	}

	write("config.yaml", "blueprints: bp\n")
	if err := os.Mkdir(filepath.Join(dir, "bp"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("bp/a.yaml", "blueprints:\n- {name: a, template: base, resources: {memory: 512m}}\n")
	stdout, _ = cmdtest.Must(t, 3, "doctor")
	for _, says := range []string{
		"bp/a.yaml:2:49: blueprint a: resources.memory: \"512m\"",
		"  - {name: a, template: base, resources: {memory: 512m}}\n", "                        ^",
	} {
		if !strings.Contains(stdout, says) {
			t.Errorf("nothing says %q:\n%s", says, stdout)
		}
	}
}
