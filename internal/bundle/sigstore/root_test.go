package sigstore_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
	"github.com/berthdev/berth/internal/fault"
)

// exchanged is a trusted root with a part of another, or without it.
func exchanged(t *testing.T, own, other []byte, part string) []byte {
	t.Helper()
	var a, b map[string]json.RawMessage
	for text, into := range map[string]*map[string]json.RawMessage{string(own): &a, string(other): &b} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if a[part] == nil {
		t.Fatalf("no %s", part)
	}
	a[part] = b[part]
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Each part of a trusted root is needed: what another one vouches for is not enough.
func TestParts(t *testing.T) {
	s, other := sigstoretest.New(t), sigstoretest.New(t)
	b := s.Bundle([]byte("x"), sigstoretest.Signing{Rekor2: true, Stamped: true})
	signed, err := sigstore.FromBundle(s.Marshal(b))
	if err != nil {
		t.Fatal(err)
	}
	for part, says := range map[string]string{
		"certificateAuthorities": "of no authority that is trusted",
		"tlogs":                  "in no log that is trusted",
		"ctlogs":                 "in no log of certificates that is trusted",
		"timestampAuthorities":   "no time that is trusted",
	} {
		t.Run(part, func(t *testing.T) {
			who, err := sigstore.Verify(signed, trusted(t, exchanged(t, s.Root(), other.Root(), part)))
			expect(t, who, err, alice, says)
		})
	}
}

// A head of Rekor 2 names its log, so that it does not count for another one with the same key; one of Rekor 1 names a
// tree.
func TestHeadOfAnotherLog(t *testing.T) {
	s := sigstoretest.New(t)
	elsewhere := trusted(t, []byte(strings.ReplaceAll(string(s.Root()), "https://rekor.", "https://another.")))
	for says, signing := range map[string]sigstoretest.Signing{
		"": {}, "the head of the log is of another log": {Rekor2: true, Stamped: true},
	} {
		signed, err := sigstore.FromBundle(s.Marshal(s.Bundle([]byte("x"), signing)))
		if err != nil {
			t.Fatal(err)
		}
		who, err := sigstore.Verify(signed, elsewhere)
		expect(t, who, err, alice, says)
	}
}

func TestReadRoot(t *testing.T) {
	own := sigstoretest.New(t).Root()
	for name, test := range map[string]struct{ text, says string }{
		"one":            {text: string(own)},
		"no JSON":        {text: "x", says: "is not valid"},
		"something else": {text: `{"mediaType": "x"}`, says: "unsupported TrustedRoot media type"},
		"no authority": {
			text: string(exchanged(t, own, []byte(`{}`), "certificateAuthorities")), says: "it has to have",
		},
		"no log":          {text: string(exchanged(t, own, []byte(`{}`), "tlogs")), says: "it has to have"},
		"no log of those": {text: string(exchanged(t, own, []byte(`{}`), "ctlogs")), says: "it has to have"},
		"no timestamps":   {text: string(exchanged(t, own, []byte(`{}`), "timestampAuthorities"))},
	} {
		t.Run(name, func(t *testing.T) {
			// A part that is null is one that is missing.
			_, err := sigstore.ReadRoot([]byte(strings.ReplaceAll(test.text, ":null", ":[]")), "the trusted root x")
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, wanted %q", err, test.says)
			}
		})
	}
}

// The root of sigstore's public instance is fetched and verified before it is trusted; without it nothing is.
func TestPublicRootThatCannotBeFetched(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"absent": http.NotFound,
		"forged": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"signed": {"_type": "root", "version": 99}, "signatures": []}`))
		},
		"endless": func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			mirror := httptest.NewServer(handler)
			defer mirror.Close()
			for _, dir := range []string{"", t.TempDir()} {
				_, err := sigstore.PublicRootOf(mirror.URL, dir, "trusted-root").Trusted(t.Context())
				var f *fault.Error
				if !errors.As(err, &f) || f.Code != fault.Unavailable || !strings.Contains(f.Hint, "--trusted-root") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// What is kept of the public instance is enough for a day: nothing is fetched until then.
func TestKeptRoot(t *testing.T) {
	text, err := os.ReadFile("testdata/public-good.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := sigstore.ReadRoot(text, "x")
	if err != nil {
		t.Fatal(err)
	}
	fetched := 0
	kept := sigstore.FetchedRoot(t, r, func() { fetched++ })
	for range 3 {
		if _, err := kept.Trusted(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if fetched != 1 {
		t.Errorf("it was fetched %d times", fetched)
	}
}
