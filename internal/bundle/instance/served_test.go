package instance

import (
	"bytes"
	"crypto/rand"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Content of another server may be as large as that of any source; what is larger is said
// to be that, as of any source.
func TestContentOfAnotherServerIsBounded(t *testing.T) {
	r, _ := withCache(t)
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise)
	c := sealed(t, r, "a", string(noise))
	archive := c.Archive()
	defer archive.Close()
	var packed bytes.Buffer
	if _, err := packed.ReadFrom(archive); err != nil {
		t.Fatal(err)
	}
	provisioner := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write(packed.Bytes())
	}))
	t.Cleanup(provisioner.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provisioner.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	r.Own = &kube.Client{Config: &rest.Config{Host: "https://api.invalid", BearerToken: "token"}}
	r.Trust = server.Trust{Hosts: []string{strings.TrimPrefix(provisioner.URL, "https://")}, CAFile: ca}
	for limit, fits := range map[int64]bool{int64(packed.Len()): true, int64(packed.Len()) - 1: false, 1 << 20: false} {
		r.Fetcher.Limits.Compressed = limit
		c, err := r.fromURL(t.Context(), provisioner.URL+"/bundles/x.tgz")
		if err == nil {
			_ = c.Close()
		}
		if fits != (err == nil) || !fits && fault.ReasonOf(err) != content.ReasonTooLarge {
			t.Errorf("%d bytes with a limit of %d: %v", packed.Len(), limit, err)
		}
	}
}
