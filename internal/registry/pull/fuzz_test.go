package pull

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/fault"
)

// dialing connects to one address, whatever is asked for.
func dialing(address string) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
}

// Whatever layers hold, they become files with decent names, each once, or an error.
func FuzzLayers(f *testing.F) {
	f.Add(layerOf(f, "a=1", "d/b=2"), zipped(f, layerOf(f, ".wh.a=", "d/.wh..wh..opq=", "d/c=3")))
	f.Add(layerOf(f, "a -> b", "a => b", "../x=1"), layerOf(f, "a=1"))
	f.Add(layerOf(f, "d/"), []byte("\x1f\x8b"))
	f.Add([]byte{}, []byte("x"))
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		files := tree{}
		into := flattener{files: files, limits: Limits{Unpacked: 1 << 20, Entries: 100}, upper: shadow{}}
		for _, layer := range [][]byte{upper, lower} {
			desc := ocispec.Descriptor{Digest: digest.FromBytes(layer)}
			if err := into.layer(t.Context(), desc, strings.NewReader(string(layer))); err != nil {
				break
			}
		}
		for name := range files {
			if !fs.ValidPath(name) || strings.Contains(name, "/.wh.") || strings.HasPrefix(name, ".wh.") {
				t.Errorf("%q", name)
			}
			for dir := range files {
				if strings.HasPrefix(name, dir+"/") {
					t.Errorf("%q is in the file %q", name, dir)
				}
			}
		}
	})
}

// layers flattened at once are what they are one after the other, by a simple rule.
func FuzzWhiteouts(f *testing.F) {
	f.Add([]byte("abc"), []byte("ABC"))
	f.Add([]byte{0, 1, 2, 3, 4, 5}, []byte{6, 7, 8, 9, 10, 11})
	names := []string{
		"a", "b", "d/a", "d/b", "d/e/a", "d/e/b", ".wh.a", ".wh.d", "d/.wh.a", "d/.wh.e", "d/.wh..wh..opq",
		"d/e/.wh..wh..opq", ".wh..wh..opq", "d", "d/e",
	}
	f.Fuzz(func(t *testing.T, lower, upper []byte) {
		want := tree{}
		var layers [][]byte
		for n, of := range [][]byte{lower, upper} {
			var entries []string
			used := map[string]bool{}
			for _, b := range of {
				if name := names[int(b)%len(names)]; !used[name] {
					used[name] = true
					entries = append(entries, name+"="+string(rune('0'+n)))
				}
			}
			layers = append(layers, layerOf(t, entries...))
			apply(want, entries)
		}
		files := tree{}
		into := flattener{files: files, limits: Limits{Unpacked: 1 << 20, Entries: 100}, upper: shadow{}}
		for _, layer := range slices.Backward(layers) {
			err := into.layer(t.Context(), ocispec.Descriptor{Digest: digest.FromBytes(layer)},
				strings.NewReader(string(layer)))
			if fault.CodeOf(err) == fault.InvalidArgument {
				return // a file that is a directory as well
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%q over %q: %s", upper, lower, diff)
		}
	})
}

// apply puts a layer onto files, as a file system would have it.
func apply(files tree, entries []string) {
	remove := func(name string) {
		delete(files, name)
		for f := range files {
			if strings.HasPrefix(f, name+"/") {
				delete(files, f)
			}
		}
	}
	place := func(dir string) { // a directory takes the place of a file
		for i := range dir + "/" {
			if i == len(dir) || dir[i] == '/' {
				delete(files, dir[:i])
			}
		}
	}
	for _, marks := range []bool{true, false} {
		for _, entry := range entries {
			name, text, _ := strings.Cut(entry, "=")
			dir, base := "", name
			if i := strings.LastIndex(name, "/"); i >= 0 {
				dir, base = name[:i], name[i+1:]
			}
			if strings.HasPrefix(base, ".wh.") != marks {
				continue
			}
			place(dir)
			switch {
			case base == opaque && dir == "":
				clear(files)
			case base == opaque:
				for f := range files {
					if strings.HasPrefix(f, dir+"/") {
						delete(files, f)
					}
				}
			case marks:
				remove(strings.TrimPrefix(dir+"/"+strings.TrimPrefix(base, whiteout), "/"))
			default:
				remove(name)
				files[name] = text
			}
		}
	}
}
