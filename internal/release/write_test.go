package release

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
)

// A release is removed after one more look whether that is right, and what is removed is returned.
func TestPurge(t *testing.T) {
	refused := fault.New(fault.Conflict, "it is in use")
	for name, test := range map[string]struct {
		confirm func(context.Context) error
		dry     apply.DryRun
		err     error
		purged  int
		request string // the last one
		left    int
	}{
		"all":             {confirmed, apply.DryRunNone, nil, 3, "delete-chunk-v3", 0},
		"asked, not done": {confirmed, apply.DryRunServer, nil, 3, "delete-v3", 7},
		"not even asked":  {confirmed, apply.DryRunClient, nil, 3, "list", 7},
		"it is not right": {func(context.Context) error { return refused }, apply.DryRunNone, refused, 0, "list", 7},
	} {
		client, records, _ := past(t)
		client.PrependReactor("delete", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return len(action.(clienttesting.DeleteActionImpl).DeleteOptions.DryRun) > 0, nil,
				nil // which the fake does not know
		})
		purged, err := records.Purge(t.Context(), "a", test.confirm, test.dry)
		if err != test.err || len(purged) != test.purged { //nolint:errorlint // it is this very value
			t.Errorf("%s: %v, %v", name, purged, err)
		}
		for _, change := range purged {
			if change.Action != apply.Deleted || change.Object.GetNamespace() != "ns" ||
				change.Object.GetKind() != "Secret" {
				t.Errorf("%s: %s %s of %s", name, change.Action, change.Object.GetKind(), change.Object.GetNamespace())
			}
		}
		if words := strings.Fields(said(client.Actions())); !slices.Contains(words, test.request) ||
			words[len(words)-1] != test.request {
			t.Errorf("%s: %q", name, words)
		}
		if names := secretNames(t, client); len(names) != test.left {
			t.Errorf("%s: left are %q", name, names)
		}
	}
}
