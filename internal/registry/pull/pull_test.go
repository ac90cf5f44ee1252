package pull

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// tree takes files as content.Builder does.
type tree map[string]string

func (t tree) Add(name string, size int64, r io.Reader) error {
	if _, ok := t[name]; ok {
		return fmt.Errorf("%s is added twice", name)
	}
	text, err := io.ReadAll(r)
	if err == nil && int64(len(text)) != size {
		err = fmt.Errorf("%s has %d bytes, not %d", name, len(text), size)
	}
	t[name] = string(text)
	return err
}

// layerOf makes a layer: a name and its text; "dir/" is a directory, "a -> b" a
// symbolic link, "a => b" a hard link.
func layerOf(t testing.TB, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, entry := range entries {
		name, text, _ := strings.Cut(entry, "=")
		header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(text))}
		if from, to, ok := strings.Cut(entry, " -> "); ok {
			header, text = &tar.Header{Name: from, Linkname: to, Typeflag: tar.TypeSymlink}, ""
		} else if from, to, ok := strings.Cut(entry, " => "); ok {
			header, text = &tar.Header{Name: from, Linkname: to, Typeflag: tar.TypeLink}, ""
		} else if strings.HasSuffix(name, "/") {
			header.Typeflag = tar.TypeDir
		} else if name == "device" {
			header.Typeflag = tar.TypeChar
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fake is a registry of one repository, org/app.
type fake struct {
	*httptest.Server
	blobs     map[digest.Digest][]byte
	manifests map[string][]byte // by tag and by digest
	types     map[string]string
	// before may answer a request itself.
	before func(w http.ResponseWriter, r *http.Request) bool

	mu   sync.Mutex
	seen []string // authorizations
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{blobs: map[digest.Digest][]byte{}, manifests: map[string][]byte{}, types: map[string]string{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r.Header.Get("Authorization"))
	f.mu.Unlock()
	if f.before != nil && f.before(w, r) {
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/v2/org/app/manifests/"); ok && f.manifests[name] != nil {
		text := f.manifests[name]
		w.Header().Set("Content-Type", f.types[name])
		w.Header().Set("Docker-Content-Digest", digest.FromBytes(text).String())
		_, _ = w.Write(text)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/v2/org/app/blobs/"); ok && f.blobs[digest.Digest(name)] != nil {
		_, _ = w.Write(f.blobs[digest.Digest(name)])
		return
	}
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, `{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "unknown"}]}`)
}

func (f *fake) ref(suffix string) string {
	return strings.TrimPrefix(f.URL, "http://") + "/org/app" + suffix
}

func (f *fake) put(tag, mediaType string, of any) ocispec.Descriptor {
	text, _ := json.Marshal(of)
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	for _, name := range []string{tag, d.Digest.String()} {
		f.manifests[name], f.types[name] = text, mediaType
	}
	return d
}

// image puts one with these layers, the lowest first.
func (f *fake) image(tag string, layers ...[]byte) ocispec.Descriptor {
	m := ocispec.Manifest{
		MediaType: ocispec.MediaTypeImageManifest,
		Config:    ocispec.Descriptor{MediaType: ocispec.MediaTypeImageConfig},
	}
	m.SchemaVersion = 2
	for _, layer := range layers {
		d := ocispec.Descriptor{
			MediaType: ocispec.MediaTypeImageLayerGzip, Digest: digest.FromBytes(layer),
			Size: int64(len(layer)),
		}
		f.blobs[d.Digest] = layer
		m.Layers = append(m.Layers, d)
	}
	return f.put(tag, ocispec.MediaTypeImageManifest, m)
}

const password = "hunter2-secret"

func puller() Puller {
	return Puller{
		Platform: "linux/amd64", Silence: 20 * time.Second,
		Limits: Limits{Transfer: 1 << 20, Unpacked: 4 << 20, Entries: 1000},
	}
}

func get(t *testing.T, p Puller, ref string) (tree, *Image, error) {
	t.Helper()
	image, err := p.Resolve(t.Context(), ref)
	if err != nil {
		return nil, nil, err
	}
	files := tree{}
	err = image.Files(t.Context(), files)
	return files, image, err
}

func TestFlatten(t *testing.T) {
	for name, test := range map[string]struct {
		layers [][]string // the lowest first
		want   tree
		says   string
	}{
		"one layer": {
			[][]string{{"manifests/", "manifests/a=1", "./manifests/b=2"}},
			tree{"manifests/a": "1", "manifests/b": "2"},
			"",
		},
		"the upper wins":        {[][]string{{"a=1", "b=1"}, {"a=2"}}, tree{"a": "2", "b": "1"}, ""},
		"a whiteout":            {[][]string{{"d/a=1", "d/b=1"}, {"d/.wh.a="}}, tree{"d/b": "1"}, ""},
		"a whiteout of a tree":  {[][]string{{"d/a=1", "d/e/b=1", "x=1"}, {".wh.d="}}, tree{"x": "1"}, ""},
		"back again":            {[][]string{{"d/a=1"}, {".wh.d="}, {"d/b=2"}}, tree{"d/b": "2"}, ""},
		"replaced in one layer": {[][]string{{"d/a=1"}, {"d/b=2", ".wh.d="}}, tree{"d/b": "2"}, ""},
		"opaque": {
			[][]string{{"d/a=1", "x=1"}, {"d/", "d/b=2", "d/.wh..wh..opq="}},
			tree{"d/b": "2", "x": "1"},
			"",
		},
		"everything opaque":        {[][]string{{"d/a=1"}, {".wh..wh..opq=", "b=2"}}, tree{"b": "2"}, ""},
		"a file hides a directory": {[][]string{{"d/a=1"}, {"d=2"}}, tree{"d": "2"}, ""},
		"a directory hides a file": {[][]string{{"d=1"}, {"d/a=2"}}, tree{"d/a": "2"}, ""},
		"a mark makes a directory": {[][]string{{"d=1", "a=1"}, {"d/.wh.x="}}, tree{"a": "1"}, ""},
		"in between":               {[][]string{{"d/a=1"}, {"d=2"}, {"d/b=3"}}, tree{"d/b": "3"}, ""},
		"a link that is replaced":  {[][]string{{"a -> /etc/passwd", "b -> a"}, {"a=2", ".wh.b="}}, tree{"a": "2"}, ""},
		"a link": {
			[][]string{{"manifests/a -> /etc/passwd"}},
			nil,
			`"manifests/a" is a symbolic link to "/etc/passwd"`,
		},
		"a hard link":              {[][]string{{"a=1", "b => a"}}, nil, `"b" is a hard link to "a"`},
		"a device":                 {[][]string{{"device="}}, nil, `"device" is a device`},
		"a way up":                 {[][]string{{"../a=1"}}, nil, `"../a" is not a path within the image`},
		"a hidden way up":          {[][]string{{"a/../b=1"}}, nil, `"a/../b" is not a path within the image`},
		"an absolute path":         {[][]string{{"/a=1"}}, nil, `"/a" is not a path within the image`},
		"not UTF-8":                {[][]string{{"a\xff=1"}}, nil, "is not a path within the image"},
		"twice":                    {[][]string{{"a=1", "a=2"}}, nil, `"a" is in one layer twice`},
		"twice, otherwise written": {[][]string{{"a=1", "./a=2"}}, nil, `"a" is in one layer twice`},
		"both":                     {[][]string{{"a=1", "a/b=2"}}, nil, `"a" is both a file and a directory`},
		"both, backwards":          {[][]string{{"a/b=2", "a=1"}}, nil, `"a" is both a file and a directory`},
		"the image itself":         {[][]string{{".=1"}}, nil, `"." is the image itself`},
		"a mark of nothing":        {[][]string{{"d/.wh.="}}, nil, `"d/.wh." is no mark`},
		"a mark of the parent":     {[][]string{{"x/y/.wh...="}}, nil, `"x/y/.wh..." is no mark`},
		"an unknown mark":          {[][]string{{".wh..wh.aufs="}}, nil, `".wh..wh.aufs" is no mark`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var layers [][]byte
			for _, entries := range test.layers {
				layers = append(layers, zipped(t, layerOf(t, entries...)))
			}
			f.image("v1", layers...)
			got, _, err := get(t, puller(), f.ref(":v1"))
			if test.says != "" {
				if fault.CodeOf(err) != fault.InvalidArgument || fault.ReasonOf(err) != ReasonRefused ||
					!strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// A reference is pinned to the digest of what it names, and an index leads to the
// image of the platform.
func TestResolve(t *testing.T) {
	f := newFake(t)
	platform := func(of string, d ocispec.Descriptor) ocispec.Descriptor {
		os, architecture, _ := strings.Cut(of, "/")
		d.Platform = &ocispec.Platform{OS: os, Architecture: architecture}
		return d
	}
	index := func(tag, mediaType string, of ...ocispec.Descriptor) ocispec.Descriptor {
		i := ocispec.Index{MediaType: mediaType, Manifests: of}
		i.SchemaVersion = 2
		return f.put(tag, mediaType, i)
	}
	amd, arm := f.image("amd", layerOf(t, "a=amd")), f.image("arm", zipped(t, layerOf(t, "a=arm")))
	about := platform("unknown/unknown", f.image("about", layerOf(t, "a=about")))
	about.Annotations = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	several := index("several", ocispec.MediaTypeImageIndex, about, platform("linux/arm64", arm),
		platform("linux/amd64", amd))
	index("old", dockerList, platform("linux/arm64", arm), platform("linux/amd64", amd))
	single := index("single", ocispec.MediaTypeImageIndex, platform("linux/arm64", arm), about)
	index("none", ocispec.MediaTypeImageIndex, amd)
	index("nested", ocispec.MediaTypeImageIndex, several)
	index("others", ocispec.MediaTypeImageIndex, platform("linux/arm64", arm), platform("windows/amd64", amd))
	index("empty", ocispec.MediaTypeImageIndex)
	index("deep", ocispec.MediaTypeImageIndex,
		index("", ocispec.MediaTypeImageIndex,
			index("", ocispec.MediaTypeImageIndex, index("", ocispec.MediaTypeImageIndex, single))))
	index("evil", ocispec.MediaTypeImageIndex, ocispec.Descriptor{Digest: "sha256:../../x"})
	f.put("chart", ocispec.MediaTypeImageManifest,
		ocispec.Manifest{Config: ocispec.Descriptor{MediaType: "application/vnd.cncf.helm.config.v1+json"}})
	f.put("artifact", ocispec.MediaTypeImageManifest,
		ocispec.Manifest{ArtifactType: "application/x-sbom", Config: ocispec.DescriptorEmptyJSON})
	f.put("schema1", "application/vnd.docker.distribution.manifest.v1+prettyjws", map[string]int{"schemaVersion": 1})
	f.put("nolayers", ocispec.MediaTypeImageManifest,
		ocispec.Manifest{Config: ocispec.Descriptor{MediaType: dockerConfig}})
	foreign := ocispec.Manifest{Config: ocispec.Descriptor{MediaType: dockerConfig}}
	foreign.Layers = []ocispec.Descriptor{{
		MediaType: "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
		URLs:      []string{"https://evil.example.com"},
	}}
	f.put("foreign", ocispec.MediaTypeImageManifest, foreign)
	foreign.Layers = []ocispec.Descriptor{{MediaType: dockerLayer, Digest: "md5:../../x", Size: 5}}
	f.put("digest", ocispec.MediaTypeImageManifest, foreign)
	foreign.Layers = []ocispec.Descriptor{{MediaType: dockerLayer, Digest: amd.Digest, Size: -1}}
	f.put("negative", ocispec.MediaTypeImageManifest, foreign)
	f.manifests["broken"], f.types["broken"] = []byte("{"), ocispec.MediaTypeImageManifest
	f.manifests["brokenindex"], f.types["brokenindex"] = []byte("["), ocispec.MediaTypeImageIndex
	for name, test := range map[string]struct {
		ref, platform string
		want          string // of the file
		pinned        digest.Digest
		code          fault.Code
		says          string
	}{
		"a manifest":         {":arm", "linux/amd64", "arm", arm.Digest, "", ""},
		"by its digest":      {"@" + arm.Digest.String(), "linux/amd64", "arm", arm.Digest, "", ""},
		"the digest counts":  {":amd@" + arm.Digest.String(), "linux/amd64", "arm", arm.Digest, "", ""},
		"an index":           {":several", "linux/amd64", "amd", several.Digest, "", ""},
		"another platform":   {":several", "linux/arm64", "arm", several.Digest, "", ""},
		"by digest, index":   {"@" + several.Digest.String(), "linux/arm64", "arm", several.Digest, "", ""},
		"docker's":           {":old", "linux/arm64", "arm", "", "", ""},
		"a single one":       {":single", "linux/amd64", "arm", single.Digest, "", ""},
		"without a platform": {":none", "linux/s390x", "amd", "", "", ""},
		"nested":             {":nested", "linux/arm64", "arm", "", "", ""},
		"not the platform": {
			":others", "linux/amd64", "", "", fault.NotFound,
			`has no platform linux/amd64, only "linux/arm64, windows/amd64"`,
		},
		"an empty index":     {":empty", "linux/amd64", "", "", fault.NotFound, "has no platform"},
		"too deep":           {":deep", "linux/amd64", "", "", fault.InvalidArgument, "more than 3 indexes"},
		"a path as a digest": {":evil", "linux/amd64", "", "", fault.InvalidArgument, "sha256:../../x"},
		"an empty chart": {
			":chart", "linux/amd64", "", "", fault.InvalidArgument,
			"a chart with 0 archives, not one",
		},
		"an artifact": {
			":artifact", "linux/amd64", "", "", fault.InvalidArgument,
			`an artifact of the type "application/x-sbom"`,
		},
		"an old image":    {":schema1", "linux/amd64", "", "", fault.InvalidArgument, "manifest.v1+prettyjws"},
		"no layers":       {":nolayers", "linux/amd64", "", "", fault.InvalidArgument, "has no layers"},
		"a foreign layer": {":foreign", "linux/amd64", "", "", fault.InvalidArgument, "foreign.diff.tar.gzip"},
		"a bad digest":    {":digest", "linux/amd64", "", "", fault.InvalidArgument, "md5:../../x"},
		"a negative size": {":negative", "linux/amd64", "", "", fault.InvalidArgument, "-1 bytes"},
		"broken":          {":broken", "linux/amd64", "", "", fault.InvalidArgument, "its manifest is not valid"},
		"a broken index":  {":brokenindex", "linux/amd64", "", "", fault.InvalidArgument, "its index is not valid"},
		"no such tag":     {":nope", "linux/amd64", "", "", fault.NotFound, "/org/app:nope not found"},
		"no tag":          {"", "linux/amd64", "", "", fault.NotFound, "/org/app:latest not found"},
		"not a reference": {":no pe", "linux/amd64", "", "", fault.InvalidArgument, "is not a reference"},
		"not a digest":    {"@sha256:abc", "linux/amd64", "", "", fault.InvalidArgument, "is not a reference"},
	} {
		t.Run(name, func(t *testing.T) {
			p := puller()
			p.Platform = test.platform
			got, image, err := get(t, p, f.ref(test.ref))
			if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("%s: %v", fault.CodeOf(err), err)
			}
			if err != nil {
				if fault.From(err).Hint == "" {
					t.Errorf("%v has no hint", err)
				}
				return
			}
			if got["a"] != test.want {
				t.Errorf("got %v", got)
			}
			if test.pinned != "" && image.Ref != f.ref("@"+test.pinned.String()) {
				t.Errorf("pinned to %s", image.Ref)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"alpine":                      "docker.io/library/alpine:latest",
		"org/app:v1":                  "docker.io/org/app:v1",
		"registry.example.com:5000/a": "registry.example.com:5000/a:latest",
		"quay.io/org/app@sha256:" + strings.Repeat("ab", 32): "quay.io/org/app@sha256:" + strings.Repeat("ab", 32),
	} {
		if got, err := parse(text); err != nil || got.String() != want {
			t.Errorf("%s is %s: %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "UPPER/x", "a/../b", "https://quay.io/a", "quay.io/a:", "quay.io/a@x",
		"quay.io/a?b", "-x",
	} {
		if got, err := parse(text); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q is %s: %v", text, got, err)
		}
	}
}

// Progress counts the bytes of the layers, and there are no more of them than said.
func TestProgress(t *testing.T) {
	f := newFake(t)
	f.image("v1", layerOf(t, "a=1"), zipped(t, layerOf(t, "b=2")))
	var last, most int64
	p := puller()
	p.Progress = func(done, total int64) {
		if done < last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last, most = done, total
	}
	if _, _, err := get(t, p, f.ref(":v1")); err != nil || last != most || most == 0 {
		t.Errorf("%d of %d: %v", last, most, err)
	}
}

func loginFrom(username, from string) func(context.Context, string) (credential.Credential, error) {
	return func(context.Context, string) (credential.Credential, error) {
		return credential.Credential{Username: username, Token: password, From: from}, nil
	}
}
