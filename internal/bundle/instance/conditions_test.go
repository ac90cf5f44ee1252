package instance

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// What a chart fails with is printed as it is by programs that show conditions.
func TestConditionsHaveNothingForTerminals(t *testing.T) {
	failed := fault.New(fault.Failed, "c/templates/a.yaml:1: %w",
		errors.New("\x1b]0;PWNED\x07\x1b[31mred\x1b[0m \u202eevil\u2066 \u009b1m\x7f\x00end\xff"))
	failed.Problems = []string{"\x1b[2Jfirst", "second"}
	const want = "c/templates/a.yaml:1: red evil 1mend\uFFFD; first; second (wait)"
	var conditions []metav1.Condition
	set(&conditions, v1alpha1.ConditionInstalled, no("R", why(failed.WithHint("w\u2067ait"))), 1, time.Unix(0, 0))
	if got := conditions[0].Message; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
