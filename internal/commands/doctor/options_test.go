package doctor_test

import (
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
