package config

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch/cause"
)

// loadPolicy loads a configuration with flags as the commands have them.
func loadPolicy(t *testing.T, file string, args ...string) (cause.Policy, error) {
	t.Helper()
	t.Setenv("BERTH_CONFIG", write(t, file))
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("policy", "fast", "")
	flags.Int("crash-loop-threshold", 2, "")
	flags.Duration("pull-delay", 8*time.Second, "")
	flags.Duration("grace-period", 10*time.Minute, "")
	flags.Duration("stuck-after", 0, "")
	flags.StringSlice("ignore-reason", nil, "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	c, err := Load(flags, os.Getenv)
	return c.Policy, err
}

const ofFile = `policy:
  name: patient
  crashLoopThreshold: 0
  pullDelay: 1s
  gracePeriod: 5m
  stuckAfter: 15m
  ignoreReasons: [crashloop, ErrImagePull]
`

func TestPolicyPrecedence(t *testing.T) {
	check := func(p cause.Policy, err error, want cause.Policy) {
		t.Helper()
		want.RecoveryTime = time.Minute
		if err != nil || p.Name != want.Name || p.CrashLoopThreshold != want.CrashLoopThreshold ||
			p.PullDelay != want.PullDelay ||
			p.GracePeriod != want.GracePeriod || p.StuckAfter != want.StuckAfter ||
			p.RecoveryTime != want.RecoveryTime ||
			!slices.Equal(p.IgnoreReasons, want.IgnoreReasons) {
			t.Errorf("%+v, %v, want %+v", p, err, want)
		}
	}
	p, err := loadPolicy(t, "")
	check(p, err, cause.DefaultPolicy())
	p, err = loadPolicy(t, ofFile)
	check(p, err, cause.Policy{
		Name: "patient", PullDelay: time.Second, GracePeriod: 5 * time.Minute,
		StuckAfter: 15 * time.Minute, IgnoreReasons: []string{"CrashLoop", "ErrImagePull"},
	})

	t.Setenv("BERTH_POLICY", "Fast")
	t.Setenv("BERTH_CRASH_LOOP_THRESHOLD", "7")
	t.Setenv("BERTH_PULL_DELAY", "2s")
	t.Setenv("BERTH_GRACE_PERIOD", "6m")
	t.Setenv("BERTH_STUCK_AFTER", "16m")
	t.Setenv("BERTH_IGNORE_REASONS", "oomkilled, evicted")
	p, err = loadPolicy(t, ofFile)
	check(p, err, cause.Policy{
		Name: "fast", CrashLoopThreshold: 7, PullDelay: 2 * time.Second,
		GracePeriod: 6 * time.Minute, StuckAfter: 16 * time.Minute, IgnoreReasons: []string{"OOMKilled", "Evicted"},
	})

	p, err = loadPolicy(t, ofFile, "--policy", "patient", "--crash-loop-threshold", "0", "--pull-delay", "0s",
		"--grace-period", "1m", "--stuck-after", "0", "--ignore-reason", "backoff", "--ignore-reason", "ExecFormat")
	check(p, err, cause.Policy{
		Name: "patient", GracePeriod: time.Minute,
		IgnoreReasons: []string{"BackOff", "ExecFormat"},
	})
}

// All errors are reported at once, each with the source of the value.
func TestWrongPolicies(t *testing.T) {
	t.Setenv("BERTH_PULL_DELAY", "soon")
	t.Setenv("BERTH_CRASH_LOOP_THRESHOLD", "many")
	_, err := loadPolicy(t, "policy: {name: hasty, gracePeriod: -3s}", "--ignore-reason", "Nonsense,OOMKilled")
	f := fault.From(err)
	all := strings.Join(f.Problems, "\n")
	for _, words := range []string{
		`config.yaml:1:16: policy.name "hasty": must be one of fast, patient`,
		`BERTH_PULL_DELAY "soon": must be a duration`,
		`BERTH_CRASH_LOOP_THRESHOLD "many": must be a number`,
		"config.yaml:1:36: policy.gracePeriod must not be negative, got -3s",
		`--ignore-reason: unknown reason "Nonsense"`,
	} {
		if !strings.Contains(all, words) {
			t.Errorf("%q does not say %q", all, words)
		}
	}
	if f.Code != fault.InvalidArgument || len(f.Problems) != 5 || !strings.Contains(f.Hint, "CrashLoop, ") ||
		!strings.Contains(f.Hint, "ErrImagePull, ") {
		t.Errorf("%+v", f)
	}
}

func TestWrongPolicy(t *testing.T) {
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"--grace-period", "1m"}, "--grace-period requires --policy patient"},
		{[]string{"--crash-loop-threshold", "-1"}, "--crash-loop-threshold must not be negative, got -1"},
		{[]string{"--stuck-after", "-1s"}, "--stuck-after must not be negative, got -1s"},
		{[]string{"--policy", ""}, `--policy "": must be one of fast, patient`},
	} {
		_, err := loadPolicy(t, "", test.args...)
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %v", test.args, err)
		}
	}
	_, err := loadPolicy(t, "policy: {titel: fast}")
	if f := fault.From(err); !strings.Contains(strings.Join(f.Problems, ""),
		"config.yaml:1:10: unknown field \"titel\"") {
		t.Errorf("an unknown key: %v %q", err, f.Problems)
	}
}
