package content_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/content"
)

// The same files are the same content, in whatever order, with whatever times, modes
// and owners, in whichever format of tar, and however they are compressed. Other files
// are other content.
func TestDigestDependsOnFilesAlone(t *testing.T) {
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 1)) //nolint:gosec // reproduced by its seed
	seen := map[string]map[string]string{}
	for range 30 {
		files := randomFiles(random)
		digests := map[string]string{}
		for range 4 {
			how, raw := pack(t, random, files)
			got, digest, err := take(t, raw, content.DefaultLimits())
			if err != nil || !maps.Equal(got, files) {
				t.Fatalf("seed %d, %s: %v, %v, want %v", seed, how, got, err, files)
			}
			digests[digest] = how
		}
		if len(digests) != 1 {
			t.Fatalf("seed %d: %v for %v", seed, digests, files)
		}
		for digest := range digests {
			if other := seen[digest]; other != nil && !maps.Equal(other, files) {
				t.Fatalf("seed %d: %v and %v are %s", seed, other, files, digest)
			}
			seen[digest] = files
		}
	}
}

func randomFiles(random *rand.Rand) map[string]string {
	files := map[string]string{}
	for range 1 + random.IntN(8) {
		name := strings.Repeat("directory/", random.IntN(3)*random.IntN(8)) +
			[]string{"a", "b", "ä", "Chart.yaml", "a b", strings.Repeat("n", 150)}[random.IntN(6)]
		files[name] = strings.Repeat(string(rune('a'+random.IntN(3))), random.IntN(3)*random.IntN(600))
	}
	return files
}

// pack makes an archive of files in one way of many.
func pack(t *testing.T, random *rand.Rand, files map[string]string) (how string, raw []byte) {
	t.Helper()
	format := []tar.Format{tar.FormatPAX, tar.FormatGNU, tar.FormatUnknown}[random.IntN(3)]
	names := slices.Collect(maps.Keys(files))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	prefix := []string{"", "./"}[random.IntN(2)]
	for _, name := range names {
		header := &tar.Header{
			Name: prefix + name, Size: int64(len(files[name])), Mode: random.Int64N(0o1000), Uid: random.IntN(70000),
			Gid: random.IntN(9), Uname: "someone",
			ModTime: time.Unix(random.Int64N(2e9), 0), Format: format,
		}
		if format == tar.FormatPAX {
			header.AccessTime, header.PAXRecords = time.Unix(1, 5), map[string]string{"SCHILY.xattr.user.a": "b"}
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	level := random.IntN(11) - 1
	how = fmt.Sprintf("%v in order %q, gzip %d", format, names, level)
	if level == gzip.DefaultCompression {
		return how, out.Bytes()
	}
	return how, compress(t, out.Bytes(), level)
}
