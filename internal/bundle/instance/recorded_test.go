package instance

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/release"
)

// What a record says was applied is what was applied, to the last newline of a script: otherwise the next pass would
// put right what is right.
func TestRecordedIsApplied(t *testing.T) {
	for _, dir := range []string{
		"../format/testdata/small/rec", "../format/testdata/small/csv", "../../chart/testdata/newline/chart",
		"../../chart/testdata/num/chart",
	} {
		p, err := format.Load(t.Context(), os.DirFS(dir), format.Options{Instance: "i", Namespace: "space"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := release.Objects(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p.Objects, recorded); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
}
