//go:build unix

package copy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	filecopy "github.com/berthdev/berth/internal/exec/copy"
)

// Holes are holes again on this machine, whatever the tar at the other end makes of them.
func TestHolesAreKept(t *testing.T) {
	for name, p := range places(t) {
		t.Run(name, func(t *testing.T) {
			const size = 32 << 20
			file, err := os.Create(filepath.Join(p.home, "sparse"))
			must(t, err)
			for _, at := range []int64{0, 9 << 20, 9<<20 + 4000, size - 1} {
				_, err := file.WriteAt([]byte("data"), min(at, size-4))
				must(t, err)
			}
			must(t, file.Close())
			here := t.TempDir()
			_, err = filecopy.Receive{Run: p.run, From: "sparse", To: here, Meter: &filecopy.Meter{}}.Do(t.Context())
			must(t, err)
			want, err := os.ReadFile(filepath.Join(p.home, "sparse"))
			must(t, err)
			got, err := os.ReadFile(filepath.Join(here, "sparse"))
			must(t, err)
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes, not the same", len(got))
			}
			info, err := os.Stat(filepath.Join(here, "sparse"))
			must(t, err)
			if used := info.Sys().(*syscall.Stat_t).Blocks * 512; used > 256<<10 {
				t.Errorf("%d bytes of %d are used", used, info.Size())
			}
		})
	}
}
