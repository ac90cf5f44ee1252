package machine

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

func TestArgument(t *testing.T) {
	for text, want := range map[string]struct {
		name    string
		is, bad bool
	}{
		"machine/web":         {name: "web", is: true},
		"machine/web.1-a":     {name: "web.1-a", is: true},
		"machine":             {},
		"alice~dev":           {},
		"id/machine":          {},
		"Machine/web":         {},
		"machine/":            {is: true, bad: true},
		"machine/..":          {is: true, bad: true},
		"machine/web/exec":    {is: true, bad: true},
		"machine/web%2f..":    {is: true, bad: true},
		"machine/web?x=y":     {is: true, bad: true},
		"machine/Web":         {is: true, bad: true},
		"machine/machine/web": {is: true, bad: true},
	} {
		name, is, err := Argument(text)
		if name != want.name || is != want.is || (err != nil) != want.bad || want.bad &&
			fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %q, %t, %v", text, name, is, err)
		}
		if _, err := userstring.Parse(text); is && err == nil {
			t.Errorf("%s is a user string, too", text)
		}
	}
}
