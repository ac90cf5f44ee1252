package source_test

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// registryOf serves org/app:v1, of these files, to anyone who has the login.
func registryOf(t *testing.T, files ...string) (ref string) {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, name := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(name))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	manifest := ocispec.Manifest{Config: ocispec.Descriptor{MediaType: ocispec.MediaTypeImageConfig}}
	manifest.Layers = []ocispec.Descriptor{{
		MediaType: ocispec.MediaTypeImageLayer,
		Digest:    digest.FromBytes(layer.Bytes()), Size: int64(layer.Len()),
	}}
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]byte{
		"/v2/org/app/manifests/v1": text, "/v2/org/app/manifests/" + digest.FromBytes(text).String(): text,
		"/v2/org/app/blobs/" + digest.FromBytes(layer.Bytes()).String(): layer.Bytes(),
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		username, password, _ := r.BasicAuth()
		switch content, ok := of[r.URL.Path]; {
		case username != "alice" || password != "s3cret":
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
			_, _ = w.Write(content)
		}
	})
	return strings.TrimPrefix(url, "http://") + "/org/app"
}

func pullSecret(ref string) *corev1.Secret { return pullSecretOf("pull", ref, "s3cret") }

func pullSecretOf(name, ref, password string) *corev1.Secret {
	host, _, _ := strings.Cut(ref, "/")
	config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host,
		base64.StdEncoding.EncodeToString([]byte("alice:"+password)))
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: system},
		Data:       map[string][]byte{".dockerconfigjson": []byte(config)},
	}
}

func ofImage(ref, secret string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: ref, PullSecret: secret}}
}

// An image becomes content, pinned to its digest, from which the same content comes.
func TestImage(t *testing.T) {
	ref := registryOf(t, "manifests/a.yaml", "manifests/b.yaml")
	f, _ := onCluster(t, pullSecret(ref))
	var told []v1.Progress
	f.Progress = func(p v1.Progress) { told = append(told, p) }
	c, resolved, err := f.Fetch(t.Context(), ofImage(ref+":v1", "pull"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if !strings.HasPrefix(resolved.Image.Ref, ref+"@sha256:") || resolved.Image.PullSecret != "pull" || c.Files != 2 {
		t.Errorf("%+v %+v", resolved.Image, c)
	}
	if last := told[len(told)-1]; last.Done != last.Total || last.Total == 0 || last.Message != "Fetching "+ref+":v1" {
		t.Errorf("%+v", last)
	}
	again, _, err := f.Fetch(t.Context(), resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Digest != c.Digest {
		t.Errorf("%s, then %s", c.Digest, again.Digest)
	}
}

func TestImageIsRefused(t *testing.T) {
	ref := registryOf(t, "manifests/a.yaml")
	host, _, _ := strings.Cut(ref, "/")
	wrong, another := pullSecretOf("wrong", ref, "0ther"), pullSecretOf("another", "registry.example.com/x", "s3cret")
	odd := registryOf(t, "a\nb", `c\d`, "e")
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "empty", Namespace: system}}
	for name, test := range map[string]struct {
		ref, secret string
		code        fault.Code
		says        string
		problems    int
	}{
		"no login": {ref + ":v1", "", fault.Unauthenticated, "requires a login", 0},
		"wrong login": {ref + ":v1", "wrong", fault.Unauthenticated, "registry " + host +
			" rejected the login from secret/wrong", 0},
		"of another":    {ref + ":v1", "another", fault.Unauthenticated, "secret/another has none for it", 0},
		"no tag":        {ref + ":v2", "pull", fault.NotFound, "not found", 0},
		"no secret":     {ref + ":v1", "nope", fault.NotFound, "nope", 0},
		"no pullsecret": {ref + ":v1", "empty", fault.InvalidArgument, "secret/empty is not a pull secret", 0},
		"odd names": {odd + ":v1", "pull", fault.InvalidArgument, "image " + odd +
			":v1: 2 entries cannot be in a bundle", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := onCluster(t, pullSecret(test.ref), empty, wrong, another)
			_, _, err := f.Fetch(t.Context(), ofImage(test.ref, test.secret))
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) ||
				len(fault.From(err).Problems) != test.problems {
				t.Errorf("%s: %v %q", fault.CodeOf(err), err, fault.From(err).Problems)
			}
		})
	}
}
