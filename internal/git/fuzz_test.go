package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/berthdev/berth/internal/fault"
)

// Files that are stored as deltas of each other are read as they are.
func TestDeltasOfGit(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "org", "similar")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "init", "-q", "-b", "main")
	var text strings.Builder
	for i := range 40 {
		for line := range 100 {
			fmt.Fprintf(&text, "%d in %d\n", line*7919%1000, i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d", i)), []byte(text.String()),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "add", "-A")
	run(t, dir, "commit", "-q", "-m", "x")
	run(t, dir, "gc", "-q", "--aggressive")
	plain := httptest.NewServer(server(t, root))
	t.Cleanup(plain.Close)
	s, err := remoteAt(t, plain.URL+"/org/similar").Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	deltas := 0
	for _, entry := range s.fetcher.objects.packs[0].entries {
		if entry.kind.IsDelta() {
			deltas++
		}
	}
	if deltas < 20 {
		t.Fatalf("the pack has %d deltas", deltas)
	}
	for i := range 40 {
		name := fmt.Sprintf("file-%d", i)
		want, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the test's own
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.ReadFile(t.Context(), name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
		}
	}
}

// Whatever a pack holds, reading it ends, with what was asked for or with an error.
func FuzzPack(f *testing.F) {
	blob := entry{kind: plumbing.BlobObject, size: 8, content: []byte("the same")}
	hash := plumbing.ComputeHash(plumbing.BlobObject, blob.content)
	f.Add(packOf(blob, delta(hash, 8, 'T')))
	f.Add(packOf(delta(hash, 8, 'T'), blob))
	f.Add(packOf(entry{kind: plumbing.TreeObject, size: 30, content: []byte("100644 a\x0001234567890123456789")}))
	f.Add(chain(100, 10, true))
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, content []byte) {
		o := &objects{left: 1 << 20}
		if err := o.add(t.Context(), inMemory(content)); err != nil {
			return
		}
		for _, p := range o.packs {
			for hash, i := range p.whole {
				got, err := o.get(t.Context(), p.entries[i].kind, hash, 1<<20)
				if err == nil && plumbing.ComputeHash(p.entries[i].kind, got) != hash {
					t.Errorf("%q is not %s", got, hash)
				}
				if err != nil && !errors.Is(err, errUnpackedTooLarge) {
					t.Errorf("%s: %v", hash, err)
				}
			}
		}
		_, _ = o.get(t.Context(), plumbing.BlobObject, plumbing.ZeroHash, 1<<20)
		_ = o.decode(t.Context(), plumbing.ZeroHash, &object.Tree{})
	})
}

// Whatever a remote answers, the error is one of those that the user is told, and none of ours.
func FuzzRemote(f *testing.F) {
	f.Add("001e# service=git-upload-pack\n0000", "0008NAK\n"+string(packOf()))
	f.Add("001e# service=git-upload-pack\n0000003e"+strings.Repeat("ab", 20)+" HEAD\x00shallow filter\n0000", "0000"+
		"0008NAK\nPACK")
	f.Add("ffff", "0000")
	var refs, answer string
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := answer
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			text = refs
		}
		_, _ = io.WriteString(w, text)
	}))
	f.Cleanup(remote.Close)
	f.Fuzz(func(t *testing.T, listed, sent string) {
		refs, answer = listed, sent
		r := remoteAt(t, remote.URL+"/org/proj")
		s, err := r.Fetch(t.Context(), "main", "")
		if err == nil {
			_, err = s.ReadFile(t.Context(), "dir/file")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && fault.CodeOf(err) == fault.Internal {
			t.Errorf("%v", err)
		}
	})
}
