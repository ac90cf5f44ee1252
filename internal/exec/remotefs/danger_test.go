package remotefs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pkg/sftp"
)

// What is written into a file that cannot be opened is no command, and the next call is answered.
func TestContentIsNoCommand(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		sleep, err := osexec.LookPath("sleep")
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(sleep)
		if err != nil {
			t.Fatal(err)
		}
		busy := filepath.Join(home, "busy")
		if err := os.WriteFile(busy, program, 0o700); err != nil { //nolint:gosec // it is to be run
			t.Fatal(err)
		}
		running := osexec.CommandContext(t.Context(), busy, "60")
		if err := running.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = running.Process.Kill(); _ = running.Wait() }()
		// The system refuses to open a program that runs for writing.
		f, err := c.OpenFile(busy, os.O_WRONLY)
		if err == nil {
			_, err = f.Write([]byte("touch " + home + "/ran\n"))
			if closing := f.Close(); err == nil {
				err = closing
			}
		}
		if err == nil {
			t.Error("a program that runs was written to")
		}
		if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
			t.Error("content was run as a command")
		}
		if _, err := c.Stat(home); err != nil {
			t.Errorf("the next call: %v", err)
		}
	})
}

// A link that leads nowhere has nothing to be read, and a file that is written to it is made where it leads.
func TestLinkToNothing(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		link, target := filepath.Join(home, "link"), filepath.Join(home, "target")
		if err := os.Symlink("target", link); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Stat(link); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a look: %v", err)
		}
		f, err := c.OpenFile(link, os.O_WRONLY|os.O_CREATE) // as scp does
		if err == nil {
			_, err = f.Write([]byte("x"))
		}
		if err == nil {
			err = f.Close()
		}
		if text, read := os.ReadFile(target); err != nil || read != nil || string(text) != "x" {
			t.Errorf("%q, %v, %v", text, err, read)
		}
		if err := c.Remove(link); err != nil {
			t.Error(err)
		}
	})
}

// A file that its owner may not write to is uploaded, as those of git's objects are, whatever its size.
func TestReadOnlyFiles(t *testing.T) {
	each(t, func(t *testing.T, c *sftp.Client, home string) {
		for name, size := range map[string]int{"small": 10, "large": 3 << 20} {
			content := bytes.Repeat([]byte("x"), size)
			f, err := c.OpenFile(filepath.Join(home, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			if err == nil {
				err = f.Chmod(0o444)
			}
			if err == nil {
				_, err = f.ReadFrom(strings.NewReader(string(content)))
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			info, err := os.Stat(filepath.Join(home, name))
			if err != nil || info.Mode() != fs.FileMode(0o444) || info.Size() != int64(size) {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	})
}
