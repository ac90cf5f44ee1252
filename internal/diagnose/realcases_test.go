package diagnose

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// The half of case 10 that is not the analyzer's: what to check.
func TestRealCases(t *testing.T) {
	for name, test := range map[string]struct{ code, says string }{
		`case 10 pull "not found": fail with what to check (tag)`:             {"ImageNotFound", "no such image or tag"},
		`case 10 "pull access denied": fail with what to check (pull secret)`: {"ImagePullDenied", "pull secret"},
	} {
		t.Run(name, func(t *testing.T) {
			if hint := Hint(&v1.Cause{Code: test.code}, About{}); !strings.Contains(hint, test.says) {
				t.Errorf("%q does not say %q", hint, test.says)
			}
		})
	}
}
