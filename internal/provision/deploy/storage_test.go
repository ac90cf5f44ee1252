package deploy

import "testing"

// Anyone who runs out of time is told the command that goes on in the same way.
func TestRemovingCommand(t *testing.T) {
	for how, want := range map[Removing]string{
		{Wait: true}:        "berth delete id/alice-1 --namespace dev",
		{KeepStorage: true}: "berth delete id/alice-1 --namespace dev --keep-storage",
	} {
		if got := how.Command("alice-1", "dev"); got != want {
			t.Errorf("%+v: %s", how, got)
		}
	}
}
