// Package waittest is for tests: it waits for what has to come.
package waittest

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Patience is how long a test waits for what has to come: no promise, as a machine
// may be busy.
const Patience = 2 * time.Minute

// Until waits for a condition, and says what it is if it does not come.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, Patience, true,
		func(context.Context) (bool, error) {
			return condition(), nil
		})
	if err != nil {
		t.Fatalf("timed out waiting: %s", what)
	}
}
