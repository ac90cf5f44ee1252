package git

import (
	"slices"
	"testing"
)

// The short form means what it means to git.
func TestParseAddress(t *testing.T) {
	for text, want := range map[string]struct {
		shown string
		ssh   []string // the end of what is run; nil for another way
	}{
		"git@git.example.com:org/proj.git": {
			"git.example.com/org/proj",
			[]string{"git@git.example.com", "git-upload-pack 'org/proj.git'"},
		},
		"git@git.example.com:/srv/proj.git": {
			"git.example.com/srv/proj",
			[]string{"git@git.example.com", "git-upload-pack '/srv/proj.git'"},
		},
		"git@git.example.com:~bob/my%20proj": {
			"git.example.com/~bob/my proj",
			[]string{"git@git.example.com", "git-upload-pack '~bob/my proj'"},
		},
		"git@[::1]:org/proj": {"[::1]/org/proj", []string{"git@::1", "git-upload-pack 'org/proj'"}},
		"ssh://git@git.example.com:22/org/p.git": {
			"git.example.com:22/org/p",
			[]string{"git@git.example.com", "git-upload-pack '/org/p.git'"},
		},
		"https://git.example.com/org/proj.git": {"git.example.com/org/proj", nil},
		"https://bob@git.example.com:443/proj": {"git.example.com:443/proj", nil},
	} {
		u, err := ParseAddress(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got := (Remote{URL: u}).String(); got != want.shown {
			t.Errorf("%s is shown as %s", text, got)
		}
		if (u.Scheme == "ssh") != (want.ssh != nil) {
			t.Errorf("%s is reached by %s", text, u.Scheme)
		}
		if args := sshArguments(u); want.ssh != nil && !slices.Equal(args[len(args)-2:], want.ssh) {
			t.Errorf("%s: %q", text, args)
		}
	}
	if u, err := ParseAddress("git@host:100%"); err == nil {
		t.Errorf("a path that ends in %%: %s", u)
	}
}
