package terminal

import (
	"testing"
)

func TestTextFromElsewhereInLines(t *testing.T) {
	s, b := Test("", T0)
	r := Progress(s, ModePlain, Title{UserString: Hostile, ID: Hostile, Namespace: Hostile, Verb: "provision"})
	for _, e := range HostileStory() {
		r.Handle(e)
	}
	Harmless(t, "one", b.Err.String())
	_, lines := toldOfMany(HostileBatch().End(), ModePlain)
	Harmless(t, "many", lines)
}
