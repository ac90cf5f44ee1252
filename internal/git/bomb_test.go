package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"

	"github.com/berthdev/berth/internal/fault"
)

// delta makes an object as large as its base, of two bytes and the rest of the base.
func delta(base plumbing.Hash, size int, begin ...byte) entry {
	steps := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(size)), uint64(size))
	steps = append(append(steps, byte(len(begin))), begin...) // more than 127 would be another step
	for at := len(begin); at < size; {
		n := min(size-at, 1<<16-1)
		steps = append(steps, 0xb7, byte(at), byte(at>>8), byte(at>>16), byte(n), byte(n>>8))
		at += n
	}
	return entry{kind: plumbing.REFDeltaObject, size: len(steps), base: base, content: steps}
}

// chain is a pack of deltas, each of what the one before it makes. Backwards, each comes before what it is applied to.
func chain(size, count int, backwards bool) []byte {
	content := make([]byte, size)
	entries := []entry{{kind: plumbing.CommitObject, size: size, content: bytes.Clone(content)}}
	for i := range count {
		base := plumbing.ComputeHash(plumbing.CommitObject, content)
		content[0], content[1] = byte(i), byte(i>>8)
		entries = append(entries, delta(base, size, content[:2]...))
	}
	if backwards {
		slices.Reverse(entries[1:])
	}
	return packOf(entries...)
}

// wide is a pack of many deltas of one object.
func wide(size, count int) []byte {
	content := make([]byte, size)
	entries := []entry{{kind: plumbing.CommitObject, size: size, content: content}}
	base := plumbing.ComputeHash(plumbing.CommitObject, content)
	for i := range count {
		entries = append(entries, delta(base, size, byte(i), byte(i>>8)))
	}
	return packOf(entries...)
}

// zeros is a pack of objects that say nothing; the first is what is asked for.
func zeros(sizes ...int) []byte {
	var entries []entry
	for _, size := range sizes {
		entries = append(entries, entry{kind: plumbing.CommitObject, size: size, content: make([]byte, size)})
	}
	return packOf(entries...)
}

// heap is how much more than before was held at one time while something was done.
func heap(do func()) (peak uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, done, most := m.HeapAlloc, make(chan struct{}), make(chan uint64)
	go func() {
		var highest uint64
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			highest = max(highest, now.HeapAlloc)
			select {
			case <-done:
				most <- highest
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	do()
	close(done)
	return max(<-most, before) - before
}

// sends is a remote whose only branch is a commit that it sends such a pack for.
func sends(t *testing.T, commit plumbing.Hash, pack []byte) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := pktline.NewEncoder(w)
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			_ = e.EncodeString("# service=git-upload-pack\n")
			_ = e.Flush()
			_ = e.EncodeString(fmt.Sprintf("%s HEAD\x00agent=x\n", commit), fmt.Sprintf("%s refs/heads/main\n", commit))
			_ = e.Flush()
			return
		}
		_ = e.EncodeString("NAK\n")
		_, _ = w.Write(pack)
	}))
	t.Cleanup(server.Close)
	return server
}

const bombLimit = 256 << 20 // as it is configured

// What a pack makes is bounded, whatever its deltas say, and whatever is looked for in it.
func TestPackBombs(t *testing.T) {
	elsewhere := plumbing.NewHash(strings.Repeat("ab", 20)) // of none of the objects, so that all are made
	for name, test := range map[string]struct {
		pack  []byte
		asked plumbing.Hash
		says  string
	}{
		"a long chain":  {chain(60_000, 1500, false), elsewhere, "has deltas that take more than 65536 KiB"},
		"backwards":     {chain(60_000, 1500, true), elsewhere, "has deltas that take more than 65536 KiB"},
		"large objects": {chain(4<<20, 20, false), elsewhere, "has deltas that take more than 65536 KiB"},
		"one large object": {
			zeros(30 << 20), plumbing.ComputeHash(plumbing.CommitObject, make([]byte, 30<<20)),
			"or a directory of it takes more than 8192 KiB",
		},
		"many of them": {zeros(slices.Repeat([]int{30 << 20}, 9)...), elsewhere, "unpacks to more than 262144 KiB"},
		"gigabytes":    {wide(1<<20, 4000), elsewhere, "unpacks to more than 262144 KiB"},
	} {
		pack := test.pack
		t.Run(name, func(t *testing.T) {
			remote := remoteAt(t, sends(t, test.asked, pack).URL+"/org/proj")
			remote.Limits.Unpacked = bombLimit
			var err error
			began := time.Now()
			held := heap(func() { _, err = remote.Fetch(t.Context(), "") })
			t.Logf("%d kB: %v; %d MB in %s", len(pack)>>10, err, held>>20, time.Since(began))
			if held > 200<<20 {
				t.Errorf("%d MB were held", held>>20)
			}
			if fault.CodeOf(err) != fault.Failed ||
				!strings.Contains(err.Error(), remote.String()+" is too large: a single commit "+test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The context ends the unpacking, which waits for nothing.
func TestUnpackingEndsWithItsContext(t *testing.T) {
	pack := chain(60_000, 4000, false)
	for name, left := range map[string]int{"while it is indexed": 0, "while objects are made": len(pack)/4096 + 2} {
		o := &objects{left: bombLimit}
		ctx := &ending{t.Context(), left}
		err := o.add(ctx, inMemory(pack))
		if err == nil {
			_, err = o.get(ctx, plumbing.CommitObject, plumbing.ZeroHash, maxMeta)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ending is a context that ends after it has been asked some times.
type ending struct {
	context.Context //nolint:containedctx // it is one
	left            int
}

// Err implements context.Context.
func (e *ending) Err() error {
	e.left--
	if e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A delta that makes what it is applied to leads nowhere.
func TestDeltasInACircle(t *testing.T) {
	content := []byte("the same")
	o := &objects{left: bombLimit}
	err := o.add(t.Context(), inMemory(packOf(
		entry{kind: plumbing.BlobObject, size: 8, content: content},
		delta(plumbing.ComputeHash(plumbing.BlobObject, content), 8, content...),
	)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.get(t.Context(), plumbing.BlobObject, plumbing.ZeroHash, 100); !errors.Is(err,
		plumbing.ErrObjectNotFound) {
		t.Error(err)
	}
	if got, err := o.get(t.Context(), plumbing.BlobObject, plumbing.ComputeHash(plumbing.BlobObject, content),
		100); err != nil || string(got) != "the same" {
		t.Errorf("%q, %v", got, err)
	}
}
