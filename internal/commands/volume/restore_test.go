package volume_test

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/schematest"
)

const restored = `drwxr-xr-x .
-rw------- .hidden "package "
Lrwxrwxrwx link
drwxr-x--- src
-rw-r----- src/main.go "package "
-rw-r----- src/same.go "package "
`

// A volume is the same in a directory and in a workspace, and its node knows who asked.
func TestRestore(t *testing.T) {
	drivers := fleet()
	drivers["n1"].archives = map[string][]byte{id("1f0c9a2b4d5e"): tree(t)}
	w := newWorld(t, drivers)
	here := t.TempDir()
	existing := filepath.Join(here, "existing")
	if err := os.Mkdir(existing, 0o755); err != nil {
		t.Fatal(err)
	}
	for args, dir := range map[string]string{
		"--to " + filepath.Join(here, "new"): filepath.Join(here, "new"),
		"--to " + existing:                   existing,
		"--into alice":                       filepath.Join(w.home, "restored-build-1f0c9a2b4d"),
		"--into alice:work":                  filepath.Join(w.home, "work"),
		"--into alice:" + here + "/absolute": filepath.Join(here, "absolute"),
	} {
		_, stderr := cmdtest.Must(t, 0, append([]string{"volume", "restore", "1f0c"}, strings.Fields(args)...)...)
		if got := listing(t, dir); got != restored {
			t.Errorf("%s:\n%s", args, got)
		}
		if !strings.Contains(stderr, "Restored 3 files, 16B") || !strings.Contains(stderr, dir) {
			t.Errorf("%s: %s", args, stderr)
		}
	}
	stdout, _ := cmdtest.Must(t, 0, "volume", "restore", id("1f0c9a2b4d5e"), "--into", "alice:again", "-o", "json")
	schematest.Validate(t, []byte(stdout))
	if !strings.Contains(stdout, `"workspace": "alice-`) || !strings.Contains(stdout, `"node": "n1"`) {
		t.Error(stdout)
	}
	if got := drivers["n1"].audited; len(got) != 6 || got[0] != "restore "+id("1f0c9a2b4d5e")+" for " {
		t.Errorf("audited: %q", got)
	}
}

// What is there stays, unless it is to be replaced; then, what has another name stays.
func TestRestoreOverWhatIsThere(t *testing.T) {
	drivers := fleet()
	drivers["n1"].archives = map[string][]byte{id("1f0c9a2b4d5e"): tree(t)}
	w := newWorld(t, drivers)
	here := t.TempDir()
	for args, dir := range map[string]string{
		"--to " + filepath.Join(here, "x"): filepath.Join(here, "x"),
		"--into alice:x":                   filepath.Join(w.home, "x"),
	} {
		if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"src/main.go", ".other"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before := listing(t, dir)
		all := append([]string{"volume", "restore", "1f0c"}, strings.Fields(args)...)
		status, _, stderr := cmdtest.Run(t, "", all...)
		if status != 6 || !strings.Contains(stderr, "is not empty") || !strings.Contains(stderr, "--overwrite") ||
			listing(t, dir) != before {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
		cmdtest.Must(t, 0, append(all, "--overwrite")...)
		got := listing(t, dir)
		if !strings.Contains(got, `.other "mine"`) || !strings.Contains(got, `src/main.go "package "`) ||
			!strings.Contains(got, "drwxr-xr-x src\n") {
			t.Errorf("%s:\n%s", args, got)
		}
	}
	file := filepath.Join(here, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--to", file},
		{"--to", file, "--overwrite"},
		{"--to", filepath.Join(here, "no", "such")},
	} {
		if status, _, stderr := cmdtest.Run(t, "",
			append([]string{"volume", "restore", "1f0c"}, args...)...); status == 0 {
			t.Errorf("%q: %s", args, stderr)
		}
	}
}

// A hostile archive leaves nothing, here and in a workspace; neither does one that breaks off.
func TestRestoreHostile(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		archive []byte
		fails   error
		says    string
	}{
		"climbing": {
			archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "../../evil", Size: 4}), nil,
			"climbs out with ..",
		},
		"absolute": {archive(t, tar.Header{Typeflag: tar.TypeReg, Name: secret, Size: 4}), nil, "its name is absolute"},
		"a link out": {
			archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: secret}), nil,
			"--outside-links",
		},
		"over a link": {archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "m"},
			tar.Header{Typeflag: tar.TypeReg, Name: "l", Size: 4}), nil, "l"},
		"a device": {
			archive(t, tar.Header{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}), nil,
			"a device or a pipe",
		},
		"no archive":    {bytes.Repeat([]byte("hello\n"), 500), nil, "something else than an archive"},
		"it breaks off": {tree(t)[:2000], errNode, "file a cannot be read"},
		"at the end":    {tree(t), errNode, "file a cannot be read"},
		"it is cut":     {tree(t)[:1600], nil, "archive"},
	} {
		t.Run(name, func(t *testing.T) {
			drivers := fleet()
			drivers["n1"].archives = map[string][]byte{id("1f0c9a2b4d5e"): c.archive}
			drivers["n1"].failing = map[string]error{id("1f0c9a2b4d5e"): c.fails}
			w := newWorld(t, drivers)
			here := t.TempDir()
			for _, args := range [][]string{{"--to", filepath.Join(here, "x")}, {"--to", here}, {"--into", "alice:x"}} {
				status, _, stderr := cmdtest.Run(t, "", append([]string{"volume", "restore", "1f0c"}, args...)...)
				if status != 3 || !strings.Contains(stderr, c.says) {
					t.Errorf("%q: %d, %s", args, status, stderr)
				}
			}
			for _, dir := range []string{here, w.home} {
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("left in %s: %v, %v", dir, left, err)
				}
			}
			if content, err := os.ReadFile(secret); err != nil || string(content) != "mine" {
				t.Errorf("%q, %v", content, err)
			}
		})
	}
}
