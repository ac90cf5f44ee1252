package release

import (
	"math"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientset "k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// What a record may have at most is read, and nothing more.
func TestDecompress(t *testing.T) {
	values := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	for name, test := range map[string]struct{ document, says string }{
		"an empty one":          {"", ""},
		"as large as it may be": {strings.Repeat(" ", maxDocument), ""},
		"one byte more":         {strings.Repeat(" ", maxDocument+1), "larger than 16 MiB when unpacked"},
		"as many values":        {values(maxValues), ""},
		"one value more":        {values(maxValues + 1), "more than 100000 values"},
	} {
		got, err := decompress(squeezed([]byte(test.document)))
		if test.says == "" && (err != nil || string(got) != test.document) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if test.says != "" && (err == nil || err.Error() != test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCountValues(t *testing.T) {
	for document, want := range map[string]int{
		``: 0, `1`: 0, `[]`: 1, `{}`: 1, `[1,2,3]`: 3, `{"a":[1,{"b":2}]}`: 4,
		`"[,{"`: 0, `["[,{",1]`: 2, `["\"[,{",1]`: 2, `["\\",[],1]`: 4, `\[`: 1,
	} {
		if got := countValues([]byte(document)); got != want {
			t.Errorf("%s has %d, want %d", document, got, want)
		}
	}
}

// A manifest may have so many values in one object, and five times as many in all. What counts is
// what may begin one.
func TestValuesOfAManifest(t *testing.T) {
	object := func(marks int) string {
		const empty = "---\n{} #"
		return empty + strings.Repeat(",", marks-yamldoc.Marks([]byte(empty))) + "\n"
	}
	for name, test := range map[string]struct {
		manifest string
		ok       bool
	}{
		"none":             {"", true},
		"many in one":      {object(300_000), true},
		"too many in one":  {object(10) + object(300_001), false},
		"many in five":     {strings.Repeat(object(300_000), 5), true},
		"too many in six":  {strings.Repeat(object(300_000), 5) + object(10), false},
		"not even objects": {"---\n[]\n", false},
	} {
		if err := valid(&helm.Release{Name: "a", Version: 1, Manifest: test.manifest}, "a",
			1); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record is in 64 chunks at most.
func TestLargestRecordInChunks(t *testing.T) {
	release := NewRevision("a", "ns", bundleOf(t, 8_000), nil, time.Now())
	all, _, err := Records{}.split(release)
	if err != nil || len(all) != 1 || len(all[0]) < 4_000 {
		t.Fatalf("%d chunks, %v", len(all), err)
	}
	size := len(all[0])
	if chunks, _, err := (Records{most: (size + 63) / 64}).split(release); err != nil || len(chunks) != 64 {
		t.Errorf("%d chunks, %v", len(chunks), err)
	}
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: (size+63)/64 - 1}
	if err := records.Create(t.Context(), release); err == nil ||
		!strings.Contains(err.Error(), "record of a: larger than 0 MiB") || len(client.Actions()) > 0 {
		t.Errorf("%v after %d requests", err, len(client.Actions()))
	}
}

// A Secret may have 1 MiB: what is in one leaves room for the rest of it, and not much more.
func TestSizeOfARecord(t *testing.T) {
	if room := 1<<20 - (Records{}).size(); room < 64<<10 || room > 256<<10 {
		t.Errorf("%d bytes are left", room)
	}
}

// What has no JSON is not recorded.
func TestRecordThatCannotBeWritten(t *testing.T) {
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns"}
	release := NewRevision("a", "ns", Content{Chart: Plain("plain", "1.2.3"), Config: map[string]any{"a": math.NaN()}},
		nil, time.Now())
	for _, dry := range []apply.DryRun{apply.DryRunNone, apply.DryRunClient, apply.DryRunServer} {
		if change, err := records.Write(t.Context(), release, false, dry); fault.CodeOf(err) != fault.Internal ||
			!strings.Contains(err.Error(), "record of a: json") || change.Object != nil {
			t.Errorf("%q: %+v, %v", dry, change, err)
		}
	}
	if len(client.Actions()) > 0 {
		t.Errorf("%d requests", len(client.Actions()))
	}
	if _, err := Manifest([]*unstructured.Unstructured{{Object: map[string]any{
		"kind":     "Crew",
		"metadata": map[string]any{"name": "b"}, "spec": func() {},
	}}}); err == nil ||
		!strings.Contains(err.Error(), "manifest: Crew b: ") {
		t.Error(err)
	}
}
