package sshconfig

import (
	"bytes"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
)

func block(name string) Block {
	return Block{
		Name: name, Proxy: []string{"/usr/local/bin/berth", "ssh", "proxy", "--context", "my prod"},
		KnownHosts: "/home/alice/.config/berth/ssh/known_hosts",
	}
}

func TestBlocks(t *testing.T) {
	plain, err := SetBlock(nil, block(""))
	if err != nil {
		t.Fatal(err)
	}
	listed := block("prod")
	listed.Hosts, listed.Namespace = []string{"bob-1", "alice-1"}, "team"
	listed.Multiplex, listed.ControlPath = true, "/run/berth/%C"
	listed.Options = []string{"Compression yes"}
	both, err := SetBlock(plain, listed)
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Check(t, "both.txt", string(both))
	again, err := SetBlock(both, block(""))
	if err != nil || !bytes.Equal(again, both) {
		t.Errorf("what is there already is written otherwise: %v\n%s", err, again)
	}
	if left, err := RemoveBlock(both, "prod"); err != nil || !bytes.Equal(left, plain) {
		t.Errorf("%v\n%s", err, left)
	}
	if left, err := RemoveBlock(plain, ""); err != nil || left != nil {
		t.Errorf("%v\n%s", err, left)
	}
	if _, err := SetBlock([]byte("Host x\n"), block("")); err == nil {
		t.Error("a file of somebody else is replaced")
	}
}

// What was put in can be taken out again, to the byte.
func TestInclude(t *testing.T) {
	const path = "~/.config/berth/ssh/config"
	for name, test := range map[string]struct{ old, want string }{
		"nothing":      {"", `Include "~/.config/berth/ssh/config"` + "\n"},
		"hosts":        {"Host a\n  User b\n", `Include "~/.config/berth/ssh/config"` + "\nHost a\n  User b\n"},
		"Windows":      {"Host a\r\n", `Include "~/.config/berth/ssh/config"` + "\r\nHost a\r\n"},
		"a mark first": {"\ufeffHost a\n", "\ufeff" + `Include "~/.config/berth/ssh/config"` + "\nHost a\n"},
		"another":      {"Include x\nHost a\n", `Include "~/.config/berth/ssh/config"` + "\nInclude x\nHost a\n"},
		"conditionally": {"Host a\nInclude ~/.config/berth/ssh/config\n", `Include "~/.config/berth/ssh/config"` +
			"\nHost a\nInclude ~/.config/berth/ssh/config\n"},
		"no newline": {"Host a", `Include "~/.config/berth/ssh/config"` + "\nHost a"},
	} {
		got := Include([]byte(test.old), path)
		if string(got) != test.want {
			t.Errorf("%s: %q", name, got)
		}
		if again := Include(got, path); !bytes.Equal(again, got) {
			t.Errorf("%s: a second time: %q", name, again)
		}
		if back := Exclude(got, path); string(back) != test.old {
			t.Errorf("%s: taken out: %q", name, back)
		}
	}
	for name, old := range map[string]string{
		"by hand":      "# mine\nInclude ~/.config/berth/ssh/config\nHost a\n",
		"among others": "Include a ~/.config/berth/ssh/config\n",
	} {
		if got := Include([]byte(old), path); string(got) != old {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func FuzzInclude(f *testing.F) {
	f.Add([]byte("Host a\n"))
	f.Add([]byte("\ufeff\r\n"))
	f.Fuzz(func(t *testing.T, old []byte) {
		const path = "/x"
		if bytes.Contains(old, []byte(path)) {
			return
		}
		got := Include(old, path)
		if back := Exclude(got, path); !bytes.Equal(back, old) {
			t.Errorf("%q became %q", old, back)
		}
	})
}

// A word that would begin a line of its own is refused: others may have written it.
func TestNoLinesOfOthers(t *testing.T) {
	for name, b := range map[string]Block{
		"a context": {
			Proxy:      []string{"berth", "ssh", "proxy", "--context=x\nHost *\n  ProxyCommand sh"},
			KnownHosts: "/k",
		},
		"a path":      {Proxy: []string{"berth"}, KnownHosts: "/a\"b"},
		"an option":   {Proxy: []string{"berth"}, KnownHosts: "/k", Options: []string{"User x\nHost *"}},
		"a workspace": {Proxy: []string{"berth"}, KnownHosts: "/k", Hosts: []string{"x *"}},
		"a namespace": {Proxy: []string{"berth"}, KnownHosts: "/k", Namespace: "x\nHost *"},
	} {
		if got, err := SetBlock(nil, b); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}
