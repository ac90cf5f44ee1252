package userstring

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// What is wrapped in another way is refused, and how to wrap it is said.
func TestUnwrap(t *testing.T) {
	for _, in := range []string{"b64-YWxpY2U=", "b64-YWxp Y2U", "base64-!", "b64-" +
		base64.RawURLEncoding.EncodeToString([]byte("alice\xff"))} {
		u, err := Parse(in)
		if fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(err.Error(), "is not unpadded base64url after") ||
			!strings.Contains(fault.From(err).Hint, "basenc") || u != (UserString{}) {
			t.Errorf("%q: %+v, %v", in, u, err)
		}
	}
	for in, says := range map[string]string{"b64-": "must start with a username", "b64-" +
		base64.RawURLEncoding.EncodeToString([]byte("alice~")): "empty part"} {
		if _, err := Parse(in); fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// A text that is far too long is cut where it is shown.
func TestInvalidIsShort(t *testing.T) {
	for n, want := range map[int]string{256: strings.Repeat("a", 256), 257: strings.Repeat("a", 256) + "…"} {
		_, err := Parse(strings.Repeat("a", n))
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != 3 || lines[1] != "  "+want || lines[2] != "  "+strings.Repeat(" ", 128)+"^ character 129" {
			t.Errorf("%d: %q", n, lines)
		}
	}
	err := invalid("ab", 7, "no")
	if !strings.HasSuffix(err.Error(), "\n  ab\n    ^ character 8") {
		t.Errorf("%q", err.Error())
	}
}
