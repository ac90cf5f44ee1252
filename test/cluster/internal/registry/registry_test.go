package registry

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/images"
)

func TestRegistry(t *testing.T) {
	if _, err := os.Stat(images.Busybox); err != nil {
		t.Skip("the images are made of the Debian package busybox-static, which is not installed")
	}
	catalog, err := images.NewCatalog()
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "mine"), []byte("a static program"), 0o600); err != nil {
		t.Fatal(err)
	}
	registry, err := New(catalog, programs)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"berth/workspace/manifests/v1":        http.StatusOK,
		"berth/workspace/manifests/slow-mine": http.StatusOK,
		"berth/workspace/manifests/v9":        http.StatusNotFound,
		"berth/workspace/manifests/git":       http.StatusOK,
		"shop/slow/manifests/v1":              http.StatusOK,
		"shop/slow/manifests/v2":              http.StatusNotFound,
		"unknown/workspace/manifests/v1":      http.StatusNotFound,
		"berth/berth/manifests/mine":          http.StatusOK,
		"berth/berth/manifests/other":         http.StatusNotFound,
		"berth/berth/manifests/..":            http.StatusNotFound,
		"private/workspace/manifests/v1":      http.StatusUnauthorized,
		"private/unknown/manifests/v1":        http.StatusUnauthorized,
	} {
		if got := get(registry, path, "").Code; got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
	}
	if got := get(registry, "private/workspace/manifests/v1", Password).Code; got != http.StatusOK {
		t.Errorf("with the password: status %d", got)
	}
	again, err := New(catalog, programs)
	if err != nil {
		t.Fatal(err)
	}
	for _, manifest := range []string{
		"berth/crash/manifests/v1", "berth/workspace/manifests/git",
		"berth/berth/manifests/mine",
	} {
		if !bytes.Equal(get(registry, manifest, "").Body.Bytes(), get(again, manifest, "").Body.Bytes()) {
			t.Errorf("a registry that starts again has another image: %s", manifest)
		}
	}
}

func get(registry http.Handler, path, password string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodGet, "/v2/"+path, http.NoBody)
	if password != "" {
		req.SetBasicAuth(User, password)
	}
	w := httptest.NewRecorder()
	registry.ServeHTTP(w, req)
	return w
}

func TestThrottle(t *testing.T) {
	inner := httptest.NewRecorder()
	w := &throttled{ResponseWriter: inner, rate: 1000}
	began := time.Now()
	if n, err := w.Write(make([]byte, 250)); n != 250 || err != nil {
		t.Fatal(n, err)
	}
	if elapsed := time.Since(began); elapsed < 250*time.Millisecond {
		t.Errorf("250 bytes at 1000 bytes a second took %s", elapsed)
	}
	if inner.Body.Len() != 250 {
		t.Errorf("%d bytes arrived", inner.Body.Len())
	}
}
