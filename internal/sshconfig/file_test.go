package sshconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// A file keeps its mode, and the links that lead to it.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file, path := filepath.Join(dir, "dotfiles", "config"), filepath.Join(dir, "ssh", "config")
	write(t, file, "Host a\n", 0o644)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	skiptest.Symlink(t, "../dotfiles/config", path)
	for _, text := range []string{"Host b\n", ""} {
		c, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		c.New = []byte(text)
		if err := c.Write(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 && !skiptest.Windows {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	if to, err := os.Readlink(path); err != nil || to != "../dotfiles/config" {
		t.Errorf("%q, %v", to, err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// What is made is the user's alone, and gone when nothing is in it.
func TestWriteNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".ssh", "config")
	c, err := Read(path)
	if err != nil || !c.None() {
		t.Fatal(c, err)
	}
	c.New = []byte("Host a\n")
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want && !skiptest.Windows {
			t.Errorf("%s: %v, %v", at, info, err)
		}
	}
	c.New = nil
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); err == nil {
		t.Error("a directory is read")
	}
	loop := filepath.Join(dir, "loop")
	skiptest.Symlink(t, "loop", loop)
	if _, err := Read(loop); err == nil {
		t.Error("a loop is followed")
	}
}

// The key is made once, and what knows it follows it.
func TestKnown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ssh")
	at, err := Known(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	write(t, at, "someone else's\n", 0o600)
	if _, err := Known(dir); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(at); err != nil || !bytes.Equal(again, first) {
		t.Errorf("%q, %v; want %q", again, err, first)
	}
}

func TestCheckOption(t *testing.T) {
	for option, ok := range map[string]bool{
		"Compression yes": true, "ForwardAgent=no": true, `SetEnv "A=b c"`: true, "": false, "Compression": false,
		"A b\nHost *": false, "Host *": false, "match all": false, "Include=x": false, "# x y": false,
	} {
		if err := CheckOption(option); (err == nil) != ok {
			t.Errorf("%q: %v", option, err)
		}
	}
}
