package unpack

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/fault"
)

// What the cache has is sent without anything being unpacked for it. What it does not have is
// fetched.
func TestArchives(t *testing.T) {
	u, digests := withCache(t, "one")
	u.Fetches = NewFetches(u.Fetcher.Cache)
	kept := &v1alpha1.Bundle{Status: v1alpha1.BundleStatus{Digest: digests[0]}}
	fetched := &v1alpha1.Bundle{}
	fetched.Spec.Source = v1alpha1.Source{
		Type: v1alpha1.SourceHTTP,
		HTTP: &v1alpha1.HTTPSource{URL: "https://a.invalid/a.tgz", Digest: digests[0]},
	}
	for _, bundle := range []*v1alpha1.Bundle{kept, kept, fetched} {
		archive, digest, err := u.archive(t.Context(), bundle)
		if err != nil || digest != digests[0] {
			t.Fatal(digest, err)
		}
		if text, err := io.ReadAll(archive); err != nil || len(text) == 0 || archive.Close() != nil {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
	changed := *fetched
	changed.Status.Digest = "sha256:other"
	if _, _, err := u.archive(t.Context(), &changed); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("other content is sent: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	slow := *fetched
	slow.Spec.Source.HTTP = &v1alpha1.HTTPSource{URL: "https://a.invalid/a.tgz"}
	if _, _, err := u.archive(over, &slow); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, f := range u.Fetches.bundles { // it outlives its caller, and writes to the cache of this test
		f.cancel(gone())
		<-f.done
	}
}

// Content of another server may be as large as that of any source; what is larger is said
// to be that, as of any source.
func TestContentOfAnotherServerIsBounded(t *testing.T) {
	u, _ := withCache(t)
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise)
	c := sealed(t, u, "a", string(noise))
	archive := c.Archive()
	defer archive.Close()
	var packed bytes.Buffer
	if _, err := packed.ReadFrom(archive); err != nil {
		t.Fatal(err)
	}
	provisioner := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(packed.Bytes())
	}))
	t.Cleanup(provisioner.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca,
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provisioner.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	u.Served = server.Client{
		Config: &rest.Config{Host: "https://api.invalid", BearerToken: "token"},
		Trust:  server.Trust{Hosts: []string{strings.TrimPrefix(provisioner.URL, "https://")}, CAFile: ca},
	}
	for limit, fits := range map[int64]bool{int64(packed.Len()): true, int64(packed.Len()) - 1: false, 1 << 20: false} {
		u.Fetcher.Limits.Compressed = limit
		c, err := u.fromURL(t.Context(), provisioner.URL+"/bundles/x.tgz")
		if err == nil {
			_ = c.Close()
		}
		if fits != (err == nil) || !fits && fault.ReasonOf(err) != content.ReasonTooLarge {
			t.Errorf("%d bytes with a limit of %d: %v", packed.Len(), limit, err)
		}
	}
}
