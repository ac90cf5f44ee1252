package sigstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/tuf"

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
				_, err := sigstore.PublicRootOf(mirror.URL, tuf.DefaultRoot(), dir, "trusted-root").Trusted(t.Context())
				var f *fault.Error
				if !errors.As(err, &f) || f.Code != fault.Unavailable || !strings.Contains(f.Hint, "--trusted-root") ||
					sigstore.IsUnverified(err) != (name != "absent") {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// What is fetched is enough for a day, and an old one for a week where there is no answer. A failure is not tried again
// at once.
func TestKeptRoot(t *testing.T) {
	absent := errors.New("absent")
	forged := fmt.Errorf("x: %w", sigstore.Unverified(errors.New("forged")))
	const day = 24 * time.Hour
	type step struct {
		after   time.Duration
		err     error // of fetching then
		trusted bool
		fetched int // so far
	}
	for name, steps := range map[string][]step{
		"for a day": {{trusted: true, fetched: 1}, {after: day - 1e9, trusted: true, fetched: 1}},
		"each day":  {{trusted: true, fetched: 1}, {after: day + 1, trusted: true, fetched: 2}},
		"a failure for a minute": {
			{err: absent, fetched: 1}, {after: 59e9, fetched: 1}, {after: 2e9, trusted: true, fetched: 2},
		},
		"an old one for an hour": {
			{trusted: true, fetched: 1},
			{after: day + 1, err: absent, trusted: true, fetched: 2},
			{after: time.Hour - 1e9, trusted: true, fetched: 2},
			{after: 2e9, trusted: true, fetched: 3},
		},
		"an old one for a week": {
			{trusted: true, fetched: 1},
			{after: 7*day - time.Minute, err: absent, trusted: true, fetched: 2},
			{after: 2 * time.Minute, err: absent, fetched: 2},
			{after: time.Hour, err: absent, fetched: 3},
		},
		"an old one, and a forged one": {
			{trusted: true, fetched: 1},
			{after: day + 1, err: forged, fetched: 2},
			{after: 61e9, err: absent, fetched: 3},
			{after: 61e9, trusted: true, fetched: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			fetched, answer := 0, error(nil)
			r := sigstore.FetchedRoot(sigstoretest.New(t).Root(), func(context.Context) error {
				fetched++
				return answer
			})
			for i, s := range steps {
				r.Pass(s.after)
				answer = s.err
				for range 2 {
					trusted, err := r.Trusted(t.Context())
					if (trusted != nil) != s.trusted || (err == nil) != s.trusted || fetched != s.fetched {
						t.Errorf("step %d: %v %v, fetched %d times", i, trusted != nil, err, fetched)
					}
				}
			}
		})
	}
}

// A caller whose context ends does not wait for another one that fetches, and is no failure that is remembered.
func TestWaitingForRoot(t *testing.T) {
	begun := make(chan struct{})
	r := sigstore.FetchedRoot(sigstoretest.New(t).Root(), func(ctx context.Context) error {
		select {
		case <-begun: // the second time
			return nil
		default:
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		}
	})
	slow, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := r.Trusted(slow)
		done <- err
	}()
	<-begun
	brief, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := r.Trusted(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if trusted, err := r.Trusted(t.Context()); trusted == nil || err != nil {
		t.Error(err)
	}
}
