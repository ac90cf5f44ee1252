package delete

import (
	"errors"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// Anyone who deletes what is not there is not told how to create it.
func TestNotThere(t *testing.T) {
	missing := fault.New(fault.NotFound, "workspace a not found").WithHint("`berth provision a` creates it")
	err := notThere(missing)
	if hint := fault.From(err).Hint; fault.CodeOf(err) != fault.NotFound ||
		!strings.Contains(hint, "--ignore-not-found") || strings.Contains(hint, "provision") {
		t.Errorf("%v: %s", err, hint)
	}
	if denied := error(fault.New(fault.PermissionDenied, "no")); !errors.Is(notThere(denied), denied) ||
		notThere(nil) != nil {
		t.Error("another error is changed")
	}
}
