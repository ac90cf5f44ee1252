package config

import (
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// What berth works beside is one value: the IDs and the thresholds follow from it. What else is configured takes
// precedence over these.
func TestCompat(t *testing.T) {
	for name, test := range map[string]struct {
		file, env string
		scheme    userstring.Scheme
		threshold int
		long      time.Duration
	}{
		"nothing":    {"", "", userstring.Own, 2, 0},
		"the file":   {"compat: k8shell\n", "", userstring.K8shell, 1, time.Minute},
		"a variable": {"", "k8shell", userstring.K8shell, 1, time.Minute},
		"a threshold besides": {
			"compat: k8shell\npolicy: {crashLoopThreshold: 4}\n", "", userstring.K8shell, 4, time.Minute,
		},
		"nothing, in the file": {"compat: \"\"\n", "", userstring.Own, 2, 0},
	} {
		t.Setenv("BERTH_COMPAT", test.env)
		c, err := load(t, write(t, test.file), "")
		if err != nil || c.Scheme() != test.scheme || c.Policy.CrashLoopThreshold != test.threshold ||
			c.Policy.LongDelay != test.long {
			t.Errorf("%s: %q, %+v, %v", name, c.Scheme(), c.Policy, err)
		}
	}
	t.Setenv("BERTH_COMPAT", "")
	_, err := load(t, write(t, "defaultBlueprint: x\ncompat: k8s\n"), "")
	if problems := fault.From(err).Problems; len(problems) != 1 ||
		!strings.Contains(problems[0], `config.yaml:2:9: compat: "k8s": must be k8shell, or left out`) {
		t.Errorf("%v, %q", err, problems)
	}
	t.Setenv("BERTH_COMPAT", "K8shell")
	if _, err := load(t, write(t, ""), ""); fault.CodeOf(err) != fault.InvalidArgument ||
		!strings.Contains(err.Error(), `BERTH_COMPAT: "K8shell": must be k8shell`) {
		t.Error(err)
	}
}
