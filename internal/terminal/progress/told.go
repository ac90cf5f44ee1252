package progress

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// told is what lines have said about something that is still so: each kind of message once.
type told struct {
	about any
	kinds map[string]bool
}

// isNew notes a message and says whether its kind is new. Another thing that it is about
// begins again.
func (t *told) isNew(about any, message string) bool {
	if t.kinds == nil || t.about != about {
		t.about, t.kinds = about, map[string]bool{}
	}
	kind := wording.MessageKind(message)
	known := t.kinds[kind]
	t.kinds[kind] = true
	return !known
}

// forget is for what is gone: it is news when it is there again.
func (t *told) forget() { *t = told{} }

// causeOf is what makes a cause the same, whatever the words in which it is put.
type causeOf struct{ code, object, container string }

func isCause(c v1.Cause) causeOf { return causeOf{c.Code, c.Object, c.Container} }

// toldWarnings are the warnings that were written; true if a reading has them.
type toldWarnings map[wording.WarningKey]bool

// isNew notes a warning, and says whether it is new.
func (t toldWarnings) isNew(w v1.Warning, inReading bool) bool {
	key := wording.KeyOf(w)
	read, known := t[key]
	t[key] = read || inReading
	return !known
}

// keep forgets those that readings had and this one does not have any more.
func (t toldWarnings) keep(reading []v1.Warning) {
	there := map[wording.WarningKey]bool{}
	for _, w := range reading {
		there[wording.KeyOf(w)] = true
	}
	for key, read := range t {
		if read && !there[key] {
			delete(t, key)
		}
	}
}
