package source_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// pushed is a registry that takes whatever is pushed.
type pushed struct {
	mu      sync.Mutex
	uploads int
	at      map[string][]byte // by path
	tags    []string
}

// ServeHTTP implements http.Handler.
func (p *pushed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	repository, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/blobs/uploads/")
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Method == http.MethodPost:
		p.uploads++
		w.Header().Set("Location", fmt.Sprintf("/v2/%s/blobs/uploads/%d", repository, p.uploads))
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodPut && rest != "":
		p.at["/v2/"+repository+"/blobs/"+r.URL.Query().Get("digest")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		dir, tag, _ := strings.Cut(r.URL.Path, "/manifests/")
		p.at[r.URL.Path], p.at[dir+"/manifests/"+digest.FromBytes(body).String()] = body, body
		p.tags = append(p.tags, `"`+tag+`"`)
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(body).String())
		w.WriteHeader(http.StatusCreated)
	case strings.HasSuffix(r.URL.Path, "/tags/list"):
		_, _ = fmt.Fprintf(w, `{"name": "org/app", "tags": [%s]}`, strings.Join(p.tags, ","))
	case r.URL.Path != "/v2/" && p.at[r.URL.Path] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		if strings.Contains(r.URL.Path, "/manifests/") {
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", digest.FromBytes(p.at[r.URL.Path]).String())
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(p.at[r.URL.Path])))
		_, _ = w.Write(p.at[r.URL.Path])
	}
}

// What the real helm pushes is read, with a provenance beside it.
func TestHelmPush(t *testing.T) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("needs helm: PATH=$(dirname $(scripts/tool helm)):$PATH go test ./internal/bundle/source")
	}
	ref := strings.TrimPrefix(serve(t, (&pushed{at: map[string][]byte{}}).ServeHTTP), "http://") + "/org/app"
	dir := t.TempDir()
	for _, version := range []string{"1.2.3", "1.4.0+build.1", "2.0.0-rc.1"} {
		file := filepath.Join(dir, "app-"+version+".tgz")
		for path, text := range map[string]string{file: string(chartArchive(t, version)), file + ".prov": "unread"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		push := exec.CommandContext(t.Context(), helm, "push", file, "oci://"+strings.TrimSuffix(ref, "/app"),
			"--plain-http")
		push.Env = append(os.Environ(), "HOME="+dir, "HELM_CONFIG_HOME="+dir, "HELM_CACHE_HOME="+dir)
		if out, err := push.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "^1": "1.4.0+build.1", "*": "1.4.0+build.1", ">=1-0": "2.0.0-rc.1",
	} {
		f, _ := onCluster(t)
		s := ofImage(ref, "")
		s.Image.Version = version
		c, _, err := f.Fetch(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		if got := versionOf(t, c); got != want {
			t.Errorf("%s: %s, not %s", version, got, want)
		}
		_ = c.Close()
	}
}
