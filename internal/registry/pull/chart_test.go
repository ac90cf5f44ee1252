package pull

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/fault"
)

// chart puts a manifest as `helm push` writes it, with these layers.
func (f *fake) chart(tag string, mediaTypes ...string) (archive []byte, of ocispec.Descriptor) {
	config := []byte(`{"name":"app","version":"1.2.3+build","apiVersion":"v2"}`)
	m := ocispec.Manifest{
		Config: ocispec.Descriptor{
			MediaType: "application/vnd.cncf.helm.config.v1+json", Digest: digest.FromBytes(config),
			Size: int64(len(config)),
		},
		Annotations: map[string]string{"org.opencontainers.image.title": "app"},
	}
	m.SchemaVersion = 2
	for _, mediaType := range mediaTypes {
		blob := []byte("the blob of " + mediaType)
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(blob), Size: int64(len(blob))}
		f.blobs[d.Digest] = blob
		m.Layers = append(m.Layers, d)
	}
	return []byte("the blob of " + chartLayer), f.put(tag, ocispec.MediaTypeImageManifest, m)
}

const provenance = "application/vnd.cncf.helm.chart.provenance.v1.prov"

// Of a chart, its archive alone is read, as it is.
func TestChart(t *testing.T) {
	f := newFake(t)
	archive, of := f.chart("1.2.3_build", chartLayer)
	f.chart("signed", provenance, chartLayer)
	f.chart("old", chartOldLayer)
	f.chart("none", provenance)
	f.chart("two", chartLayer, chartLayer)
	for tag, says := range map[string]string{
		":1.2.3_build": "", ":1.2.3+build": "", ":signed": "", ":old": "", "@" + of.Digest.String(): "",
		":none": "a chart with 0 archives, not one", ":two": "a chart with 2 archives, not one",
	} {
		t.Run(tag, func(t *testing.T) {
			image, err := puller().Resolve(t.Context(), f.ref(tag))
			if says != "" {
				if fault.ReasonOf(err) != ReasonNotAnImage || !strings.Contains(err.Error(), says) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			err = image.Archive(t.Context(), func(r io.Reader) (err error) {
				got, err = io.ReadAll(r)
				return err
			})
			want := string(archive)
			if tag == ":old" {
				want = "the blob of " + chartOldLayer
			}
			if err != nil || !image.Chart || string(got) != want || !strings.HasPrefix(image.Ref, f.ref("@sha256:")) {
				t.Errorf("%v %q %+v", err, got, image)
			}
		})
	}
}

// What is not the archive that the manifest names is an error, whether or not it is read to its end.
func TestChartIsVerified(t *testing.T) {
	f := newFake(t)
	archive, _ := f.chart("v1", chartLayer)
	f.blobs[digest.FromBytes(archive)] = []byte(strings.Repeat("x", len(archive)))
	image, err := puller().Resolve(t.Context(), f.ref(":v1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(io.Reader) error{
		"read":     func(r io.Reader) error { _, err := io.ReadAll(r); return err },
		"not read": func(io.Reader) error { return nil },
	} {
		if err := image.Archive(t.Context(), read); fault.ReasonOf(err) != ReasonMismatch {
			t.Errorf("%s: %v", name, err)
		}
	}
	own := fault.New(fault.InvalidArgument, "mine")
	if err := image.Archive(t.Context(), func(io.Reader) error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
}

// Tags come page by page, up to a bound; what is too long for one is none.
func TestTags(t *testing.T) {
	f := newFake(t)
	pages := map[string]string{
		"": `{"tags":["1.0.0","` + strings.Repeat("x", 129) + `","1.1.0_b"]}`, "1.1.0_b": `{"tags":["latest"]}`,
	}
	endless := false
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v2/org/app/tags/list" {
			return false
		}
		last := r.URL.Query().Get("last")
		if last == "" || endless {
			w.Header().Set("Link", `</v2/org/app/tags/list?last=1.1.0_b>; rel="next"`)
		}
		page := pages[last]
		if endless {
			page = `{"tags":["x"` + strings.Repeat(`,"x"`, 999) + `]}`
		}
		_, _ = io.WriteString(w, page)
		return true
	}
	tags, err := puller().Tags(t.Context(), f.ref(""))
	if want := []string{"1.0.0", "1.1.0_b", "latest"}; err != nil || !slices.Equal(tags, want) {
		t.Errorf("%q %v", tags, err)
	}
	endless = true
	if _, err := puller().Tags(t.Context(), f.ref("")); fault.ReasonOf(err) != ReasonTooLarge {
		t.Errorf("%v", err)
	}
	f.before = nil
	if _, err := puller().Tags(t.Context(), f.ref("")); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}
