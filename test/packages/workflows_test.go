package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pinned is an action of others as one commit, with its version, which people read. A tag can be moved.
var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// What signs a release runs no code that somebody else can change.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	workflows, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(workflows) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	commits := map[string]string{} // of an action; the same everywhere
	for _, workflow := range workflows {
		text, err := os.ReadFile(workflow)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, used, ok := strings.Cut(strings.TrimSpace(line), "uses: ")
			if !ok {
				continue
			}
			if !pinned.MatchString(used) {
				t.Errorf("%s uses %s: write the commit and its version, ACTION@COMMIT # vX.Y.Z", workflow, used)
			}
			action, commit, _ := strings.Cut(used, "@")
			if other := commits[action]; other != "" && other != commit {
				t.Errorf("%s uses %s at %s, another workflow at %s", workflow, action, commit, other)
			}
			commits[action] = commit
		}
	}
}
