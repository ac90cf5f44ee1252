package pull

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/fault"
)

// endless is a text that does not end.
type endless struct{ begin, text string }

func (e *endless) Read(p []byte) (n int, _ error) {
	if e.begin != "" {
		n = copy(p, e.begin)
		e.begin = e.begin[n:]
		return n, nil
	}
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	return n, nil
}

// Lists of tags, and of what refers to an image, end, whatever the registry says: in requests, in bytes, and in what is
// kept of them.
func TestListsWithoutEnd(t *testing.T) {
	other := `{"mediaType":"x","digest":"` + digest.FromString("x").String() + `","size":1,"artifactType":"x"}`
	next := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<"+r.URL.Path+`?next>; rel="next"`)
	}
	for name, test := range map[string]struct {
		tags, referrers func(w http.ResponseWriter, r *http.Request)
		says            string
	}{
		"pages of tags with nothing on them": {tags: func(w http.ResponseWriter, r *http.Request) {
			next(w, r)
			_, _ = io.WriteString(w, `{"tags":[]}`)
		}, says: "is given up after 1000 requests"},
		"pages of tags that are too long": {tags: func(w http.ResponseWriter, r *http.Request) {
			next(w, r)
			_, _ = io.WriteString(w, `{"tags":["1.0.0+`+strings.Repeat("x", 1<<10)+`"]}`)
		}, says: "is given up after 1000 requests"},
		"one page of tags": {tags: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, &endless{`{"tags":["`, "x"})
		}, says: "a list that is not valid"},
		"no list of tags": {tags: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>")
		}, says: "a list that is not valid"},
		"other things as tags": {tags: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"tags":[{"a":1}]}`)
		}, says: "a list that is not valid"},
		"no answer about tags": {tags: func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, says: "cannot be reached"},
		"no answer about referrers": {referrers: func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, says: "cannot be reached"},
		"pages of referrers of another type": {referrers: func(w http.ResponseWriter, r *http.Request) {
			next(w, r)
			_, _ = io.WriteString(w, `{"manifests":[`+other+`]}`)
		}, says: "is given up after 1000 requests"},
		"one page of referrers": {referrers: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.Copy(w, &endless{`{"manifests":[`, other + ","})
		}, says: "a list that is not valid"},
		"no list of referrers": {referrers: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "[")
		}, says: "a list that is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.image("v1", layerOf(t, "a=1"))
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case test.tags != nil && strings.HasSuffix(r.URL.Path, "/tags/list"):
					test.tags(w, r)
				case test.referrers != nil && strings.Contains(r.URL.Path, "/referrers/"):
					w.Header().Set("Content-Type", ocispec.MediaTypeImageIndex)
					test.referrers(w, r)
				default:
					return false
				}
				return true
			}
			var err error
			if test.tags != nil {
				_, err = puller().Tags(t.Context(), f.ref(""))
			} else {
				err = attachments(t, f)
			}
			if err == nil || !strings.Contains(err.Error(), test.says) || fault.From(err).Hint == "" ||
				strings.Contains(err.Error(), "?") {
				t.Errorf("%v", err)
			}
		})
	}
}

// attachments reads what the registry has about an image.
func attachments(t *testing.T, f *fake) error {
	t.Helper()
	image, err := puller().Resolve(t.Context(), f.ref(":v1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range image.Attachments(t.Context()) {
		if err != nil {
			return err
		}
	}
	return nil
}
