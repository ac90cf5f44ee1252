//go:build e2e

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/registrytest"
)

// origin is a place that bundles are installed from.
type origin struct {
	args  []string // SOURCE and the flags beside it
	env   []string
	stdin []byte
	host  string   // of a server
	own   []string // variables with which the caller's own login is found, if there is one
	// put makes files what is there.
	put func(files map[string]string)
	// pinned is the source that a bundle with this content is resolved to.
	pinned func(digest string) v1alpha1.Source
}

// run runs a command about the instance of the world and what the origin has.
func (o *origin) run(w *world, status int, verb string, args ...string) result {
	w.Helper()
	cmd := w.command(slices.Concat([]string{"bundle", verb, w.instance()}, o.args,
		[]string{"--system-namespace", w.namespace}, args)...)
	cmd.Env = append(cmd.Env, "DOCKER_CONFIG="+w.TempDir(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+
		os.DevNull)
	cmd.Env = append(cmd.Env, o.env...)
	cmd.Stdin = bytes.NewReader(o.stdin)
	r := w.finish(cmd)
	r.mustBe(w, status)
	return r
}

// guarded is a handler behind a login, if it is private.
func guarded(private bool, next http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); private && (name != gitUser || password != gitPassword) {
			out.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		next(out, r)
	}
}

// anImage is the tag of an image in a registry: an index, of which another platform has
// something else.
func anImage(w *world, private bool) *origin {
	registry := registrytest.New()
	server := httptest.NewServer(guarded(private, registry.ServeHTTP))
	w.Cleanup(server.Close)
	host, root := strings.TrimPrefix(server.URL, "http://"), ""
	return &origin{
		host: host, args: []string{"oci://" + host + "/org/bundle:v1"},
		own: []string{"DOCKER_CONFIG=" +
			filepath.Dir(w.write(w.TempDir(), "config.json", dockerConfig(host, gitPassword)))},
		put: func(files map[string]string) {
			bundle := registry.Repository("org/bundle")
			other := bundle.Image("other", ocispec.MediaTypeImageLayerGzip,
				packed(w, map[string]string{"manifests/none.yaml": "not this one"}))
			own := bundle.Image("own", ocispec.MediaTypeImageLayerGzip, packed(w, files))
			other.Platform = &ocispec.Platform{OS: "linux", Architecture: "s390x"}
			own.Platform = &ocispec.Platform{OS: "linux", Architecture: "amd64"}
			root = bundle.Index("v1", other, own).Digest.String()
		},
		pinned: func(string) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: host + "/org/bundle@" +
				root}}
		},
	}
}

// aRepository is a directory at the branch of a repository.
func aRepository(w *world, private bool) *origin {
	r := w.repositories()
	if err := os.MkdirAll(r.path("org"), 0o700); err != nil {
		w.Fatal(err)
	}
	r.git("org", "init", "--quiet", "--initial-branch", "main")
	commands, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		w.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(commands)), "git-http-backend"), Stderr: io.Discard,
		Env: []string{
			"GIT_PROJECT_ROOT=" + r.dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	server := httptest.NewServer(guarded(private, backend.ServeHTTP))
	w.Cleanup(server.Close)
	return &origin{
		host: strings.TrimPrefix(server.URL, "http://"),
		args: []string{"git+" + server.URL + "/org.git//deploy/bundle", "--branch", "main"},
		own: []string{
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper",
			"GIT_CONFIG_VALUE_0=!f() { echo username=" + gitUser + "; echo password=" + gitPassword + "; }; f",
		},
		put: func(files map[string]string) {
			dir := filepath.Join(r.path("org"), "deploy", "bundle")
			if err := os.RemoveAll(dir); err != nil {
				w.Fatal(err)
			}
			w.writeAll(dir, files)
			r.git("org", "add", "--all")
			r.git("org", "commit", "--quiet", "--message", "bundle")
		},
		pinned: func(string) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceGit, Git: &v1alpha1.GitSource{
				Repository: server.URL + "/org.git", Directory: "deploy/bundle",
				Ref: v1alpha1.GitRef{Commit: r.git("org", "rev-parse", "HEAD")},
			}}
		},
	}
}

// anArchive is a tar file on a web server with TLS.
func anArchive(w *world, private bool) *origin {
	var archive atomic.Pointer[[]byte]
	server := httptest.NewTLSServer(guarded(private,
		func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write(*archive.Load()) }))
	w.Cleanup(server.Close)
	trusted := w.write(w.TempDir(), "ca.crt",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	url := server.URL + "/bundle.tgz"
	return &origin{
		host: strings.TrimPrefix(server.URL, "https://"), args: []string{url},
		env: []string{"SSL_CERT_FILE=" + trusted},
		put: func(files map[string]string) { archive.Store(new(packed(w, files))) },
		pinned: func(digest string) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceHTTP, HTTP: &v1alpha1.HTTPSource{URL: url, Digest: digest}}
		},
	}
}

// theConfigMaps are ConfigMaps of the system namespace, one for each directory.
func theConfigMaps(w *world, _ bool) *origin {
	s := v1alpha1.Source{Type: v1alpha1.SourceConfigMaps}
	o := &origin{pinned: func(string) v1alpha1.Source { return s }}
	o.put = func(files map[string]string) {
		maps := map[string]*corev1.ConfigMap{}
		immutable := true
		var names []string
		for name, text := range files {
			dir := strings.TrimPrefix(path.Dir(name), ".")
			if maps[dir] == nil {
				maps[dir] = &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: "content-" + dir + "x"}, Immutable: &immutable,
					Data: map[string]string{},
				}
				names = append(names, fmt.Sprintf("configmap/content-%sx=%s", dir, dir))
				s.ConfigMaps = append(s.ConfigMaps,
					v1alpha1.ConfigMapSource{ConfigMap: v1alpha1.LocalReference{Name: maps[dir].Name}, Path: dir})
			}
			maps[dir].Data[path.Base(name)] = text
		}
		for _, m := range maps {
			if _, err := w.CoreV1().ConfigMaps(w.namespace).Create(w.Context(), m, metav1.CreateOptions{}); err != nil {
				w.Fatal(err)
			}
		}
		o.args = []string{strings.Join(names, ",")}
	}
	return o
}

func uploaded(digest string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{Digest: digest}}
}

func aDirectory(w *world, _ bool) *origin {
	dir := w.TempDir()
	return &origin{args: []string{dir}, pinned: uploaded, put: func(files map[string]string) { w.writeAll(dir, files) }}
}

func aFile(w *world, _ bool) *origin {
	dir := w.TempDir()
	return &origin{
		args: []string{filepath.Join(dir, "bundle.tgz")}, pinned: uploaded,
		put: func(files map[string]string) { w.write(dir, "bundle.tgz", string(packed(w, files))) },
	}
}

func standardInput(w *world, _ bool) *origin {
	o := &origin{args: []string{"-"}, pinned: uploaded}
	o.put = func(files map[string]string) { o.stdin = packed(w, files) }
	return o
}

// packed is a tar file of files, with gzip.
func packed(w *world, files map[string]string) []byte {
	w.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	archive := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := archive.WriteHeader(&tar.Header{
			Name: "./" + name, Typeflag: tar.TypeReg, Mode: 0o640,
			Size: int64(len(files[name])),
		})
		if err == nil {
			_, err = io.WriteString(archive, files[name])
		}
		if err != nil {
			w.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		w.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		w.Fatal(err)
	}
	return b.Bytes()
}

func (w *world) writeAll(dir string, files map[string]string) {
	w.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, path.Dir(name)), 0o750); err != nil {
			w.Fatal(err)
		}
		w.write(filepath.Join(dir, path.Dir(name)), path.Base(name), text)
	}
}

// loginFor makes a Secret of the system namespace, in which an origin of any type finds
// its login.
func (w *world) loginFor(o *origin, name, password string) {
	w.Helper()
	_, err := w.CoreV1().Secrets(w.namespace).
		Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{
			"username": gitUser, "password": password, corev1.DockerConfigJsonKey: dockerConfig(o.host, password),
		}}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// dockerConfig is the configuration of a Docker that is logged in.
func dockerConfig(host, password string) string {
	auth := base64.StdEncoding.EncodeToString([]byte(gitUser + ":" + password))
	return fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, auth)
}
