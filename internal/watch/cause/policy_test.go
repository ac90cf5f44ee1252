package cause

import (
	"testing"
)

// What is ignored is named by its code or its reason, in any case.
func TestIgnores(t *testing.T) {
	p := Policy{IgnoreReasons: []string{"errimagepull", "CrashLoop"}}
	for name, want := range map[string]bool{"ErrImagePull": true, "crashloop": true, "ErrImage": false, "": false} {
		if got := p.Ignores("other", name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
	if (Policy{}).Ignores("CrashLoop") || p.Ignores() {
		t.Error("nothing is ignored")
	}
}
