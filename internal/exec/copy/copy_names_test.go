package copy

import "testing"

// A path at the other end, as cp reads it.
func TestSourceOf(t *testing.T) {
	for name, want := range map[string]source{
		"notes.txt":    {"./", "notes.txt", "notes.txt"},
		"a/b":          {"./a/", "b", "b"},
		"/etc/hosts":   {"/etc/", "hosts", "hosts"},
		"/etc":         {"/", "etc", "etc"},
		"-rf":          {"./", "-rf", "-rf"},
		"link/":        {"./link", ".", "link"},
		"/srv/link///": {"/srv/link", ".", "link"},
		"a/.":          {"./a/.", ".", ""},
		"..":           {"./..", ".", ""},
		".":            {"./.", ".", ""},
		"":             {"./", ".", ""},
		"/":            {"/", ".", ""},
	} {
		if got := sourceOf(name); got != want {
			t.Errorf("%q is %+v, want %+v", name, got, want)
		}
	}
}

// Entries are what was asked for or in it, and nothing else.
func TestWithin(t *testing.T) {
	one, all := source{base: "a b"}, source{base: "."}
	for _, c := range []struct {
		of         source
		name, want string
	}{
		{one, "./a b", "tree"},
		{one, "a b/", "tree"},
		{one, "./a b//c/./d", "tree/c/d"},
		{one, "./other", ""},
		{one, "./", ""},
		{one, "./a b/../x", ""},
		{one, "/a b/x", ""},
		{one, "./a b/\x00", ""},
		{all, "./", "tree"},
		{all, "./x/-y\n", "tree/x/-y\n"},
		{all, "..", ""},
		{all, "x/..", ""},
	} {
		got, err := c.of.within(c.name)
		if got != c.want || (err == nil) == (c.want == "") {
			t.Errorf("%q in %q is %q, %v; want %q", c.name, c.of.base, got, err, c.want)
		}
	}
}

// A link may point to what is copied with it, by a way that no other link can turn.
func TestLeadsOut(t *testing.T) {
	for _, c := range []struct {
		name, target string
		want         bool
	}{
		{"tree/a", "b", false},
		{"tree/a", "./b/c", false},
		{"tree/d/a", "../b", false},
		{"tree/d/a", "..", false},
		{"tree/d/a", "../..", true},
		{"tree/a", "..", true},
		{"tree/a", "../tree/b", true},
		{"tree/a", "/etc/passwd", true},
		{"tree/d/a", "x/../y", true}, // x may be a link to somewhere else
		{"tree/a", "", true},
		{"tree", "b", true}, // a link that is copied alone
	} {
		if got := leadsOut(c.name, c.target); got != c.want {
			t.Errorf("%s -> %s leads out: %v, want %v", c.name, c.target, got, c.want)
		}
	}
}
