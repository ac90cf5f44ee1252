package userstring

import "testing"

// A value is encoded where it must not be as it is, in capitals.
func TestEscape(t *testing.T) {
	for value, want := range map[string]string{
		"aZ09-._/": "aZ09-._/", "@~+=%": "%40%7E%2B%3D%25",
		"! ~\x7f": "!%20%7E%7F", "ä": "%C3%A4", "}|": "}|", "": "",
	} {
		if got := escape(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// The name of a user in an ID is a label, whatever the user is called, as long as there is room.
func TestLabel(t *testing.T) {
	for user, want := range map[string]string{
		"alice": "alice", "a_b": "a-b", "_a_": "a", "a": "a", "z": "z", "1st": "u-1st", "": "u", "___": "u",
		"abcdefgh": "abcdefgh", "abcdefghi": "abcdefgh", "abcdefg-i": "abcdefg",
	} {
		if got := label(user, 8); got != want {
			t.Errorf("%q: %q, want %q", user, got, want)
		}
	}
}

// What can be the ID of a workspace is told by its end.
func TestLooksLikeID(t *testing.T) {
	for name, want := range map[string]bool{
		"alice-a975fae": true, "alice": false, "alice-a975fa": false,
		"alice-a975fag": false, "alice~x-a975fae": false, "alice-A975FAE": false,
	} {
		if got := LooksLikeID(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
