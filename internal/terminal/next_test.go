package terminal

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What was looked for elsewhere is not to be looked for here next.
func TestStatusProposesCommandsWithTheFlags(t *testing.T) {
	title := Alice
	title.Flags = []string{Flag("-n", "t1"), Flag("--kubeconfig", "my file")}
	w := Workspace(v1.StageRunning, v1.Snapshot{})
	const want = "berth exec alice~dev -n t1 --kubeconfig 'my file'"
	s, b := Test("", Now)
	s.Flags = title.Flags
	if err := Print(s, Format{}, &w); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.Out.String(), want+"\n") {
		t.Errorf("status does not propose %q:\n%s", want, b.Out)
	}
}
