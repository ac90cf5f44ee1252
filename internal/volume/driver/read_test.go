//go:build linux

package driver

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// left is a volume in its afterlife with files, links, and what is no file.
func (n *node) left(id string) {
	n.Helper()
	n.publish(id)
	at := n.target(id)
	n.write(filepath.Join(n.root, "work", "secret"), "of the driver")
	for name, target := range map[string]string{
		"out": "../../secret", "absolute": "/etc/passwd", "up": "..", "loop": "loop", "inside": "logs/a",
	} {
		if err := os.Symlink(target, filepath.Join(at, name)); err != nil {
			n.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(at, "logs"), 0o755), unix.Mkfifo(filepath.Join(at, "pipe"), 0o644),
		unix.Mknod(filepath.Join(at, "device"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 3)))); err != nil {
		n.Fatal(err)
	}
	n.write(filepath.Join(at, "logs", "a"), "of "+id)
	n.unpublish(id)
}

// Whatever path a reader chooses: a file of the volume, or an error. A pipe that nobody writes to is not waited for.
func TestPathsOfReaders(t *testing.T) {
	n := newNode(t)
	n.left("v")
	for path, want := range map[string]string{
		"logs/a": "", "/logs/a": "", "inside": "", "logs/../logs/a": "", "./logs//a": "",
		"out": "leads out of the volume", "absolute": "leads out of the volume",
		"up/v/logs/a": "leads out of the volume",
		"../v/logs/a": "leads out of the volume", "../../secret": "leads out of the volume",
		"logs/../../../secret": "leads out of the volume", "loop": "too many links",
		"pipe": "is a pipe", "device": "is a device", "logs": "is a directory", "": "is a directory",
		"none": "is not in the volume", "logs/a/b": "is not a directory", "a\x00b": "null character",
		strings.Repeat("x", 300): "is too long",
	} {
		got := ""
		err := n.Read(t.Context(), "v", func(_ context.Context, files volume.Files) error {
			file, err := files.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			text, err := io.ReadAll(file)
			got = string(text)
			return err
		})
		if want == "" && (err != nil || got != "of v") {
			t.Errorf("%q: %q, %v", path, got, err)
		}
		if want != "" && (err == nil || got != "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v, want %s", path, got, err, want)
		}
	}
}

// What is in a directory is listed without being opened, and archived without what is no file.
func TestDirectoriesOfReaders(t *testing.T) {
	n := newNode(t)
	n.left("v")
	var names []string
	var archive, one bytes.Buffer
	err := n.Read(t.Context(), "v", func(ctx context.Context, files volume.Files) error {
		listing, err := files.List(ctx, "/")
		for _, e := range listing.Entries {
			names = append(names, e.Name+":"+string(e.Kind)+":"+e.Target)
		}
		if _, outErr := files.List(ctx, "up"); outErr == nil || !strings.Contains(outErr.Error(), "leads out") {
			t.Errorf("a directory outside is listed: %v", outErr)
		}
		return errors.Join(err, files.Archive(ctx, "", &archive), files.Archive(ctx, "inside", &one))
	})
	if got := strings.Join(names, " "); err != nil || got != "absolute:link:/etc/passwd device:device: "+
		"inside:link:logs/a logs:directory: loop:link:loop out:link:../../secret pipe:pipe: up:link:.." {
		t.Errorf("%s, %v", got, err)
	}
	if got := entries(t, &archive); got != "absolute inside logs/ logs/a loop out up" {
		t.Errorf("the archive has %s", got)
	}
	if got := entries(t, &one); got != "inside" {
		t.Errorf("the archive of a file has %s", got)
	}
}

func entries(t *testing.T, from io.Reader) string {
	t.Helper()
	names := map[string]bool{}
	for in := tar.NewReader(from); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names[h.Name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " ")
}

// A volume is removed when it is due, read or not: its readers are told, and learn of it later, too. One that was done
// before has no error.
func TestRemovedWhileRead(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	n.gone("w")
	err := n.Read(t.Context(), "v", func(ctx context.Context, files volume.Files) error {
		file, err := files.Open("file")
		if err != nil {
			return err
		}
		defer file.Close()
		n.clock.add(2 * time.Hour)
		n.prune() //nolint:contextcheck // it is not the reader's
		if ctx.Err() == nil {
			t.Error("its reader is not told")
		}
		if _, err := files.List(ctx, ""); err == nil {
			t.Error("what is left of it is listed as if it were all")
		}
		if err := files.Archive(ctx, "", io.Discard); err == nil {
			t.Error("what is left of it is archived as if it were all")
		}
		return ctx.Err()
	})
	n.wantWaiting("")
	again := n.Read(t.Context(), "v", func(context.Context, volume.Files) error { return nil })
	for _, err := range []error{err, again} {
		if fault.ReasonOf(err) != volume.ReasonRemoved || !strings.Contains(err.Error(), "volume v was removed") {
			t.Errorf("%v", err)
		}
	}
	if v, known := n.Find("v"); !known || v.Namespace != "team" || v.Pod != "web" {
		t.Errorf("of the volume is known %+v", v)
	}
	n.gone("x")
	if err := n.Read(t.Context(), "x", func(context.Context, volume.Files) error {
		return n.Purge(t.Context(), "x") //nolint:contextcheck // that of the read ends with it
	}); err != nil {
		t.Errorf("%v, though it was done", err)
	}
	for id, want := range map[string]fault.Code{"never": fault.NotFound, "used": fault.Conflict} {
		if id == "used" {
			n.publish(id)
		}
		if err := n.Read(t.Context(), id, nil); fault.CodeOf(err) != want || fault.ReasonOf(err) != "" {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// As many removed volumes are remembered as there is room for.
func TestRemovedAreForgotten(t *testing.T) {
	var r reads
	for i := range mostRemoved + 5 {
		r.forget(volume.Volume{ID: string(rune('a'+i%26)) + time.Duration(i).String()})
	}
	if len(r.known) != mostRemoved || len(r.order) != mostRemoved {
		t.Errorf("%d and %d are remembered", len(r.known), len(r.order))
	}
	if _, was := r.removed("a0s"); was {
		t.Error("the oldest is remembered")
	}
}
