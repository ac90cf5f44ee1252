//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/registrytest"
)

// how says in which way something is signed that is published.
type how string

const (
	signed     how = "signed"
	unsigned   how = "not at all"
	byAnother  how = "by another"
	ofOther    how = "of other content"
	madeToFit  how = "of other content, and made to fit"
	otherBytes how = "other bytes under the digest that is signed"
)

// signedPublication is something that is published in versions, signed or not.
type signedPublication struct {
	config  string // the keys that count, in the configuration
	publish func(version, manifests string, as how)
	source  func(version string) []string
	// refused are the ways of signing that do not count, with what is said of each.
	refused map[how][]string
}

// cosigner signs an image of a repository, and puts that signature beside another or the same one.
type cosigner func(of, beside ocispec.Descriptor)

// cosign is a new key of cosign: that of the program itself where it is installed.
func (w *world) cosign(at registrytest.Repository) (public string, sign cosigner) {
	w.Helper()
	program, err := exec.LookPath("cosign")
	if err != nil {
		key := signaturetest.NewCosign(w)
		return key.Public, func(of, beside ocispec.Descriptor) {
			key.Tag(w, at, beside, signaturetest.Payload(of.Digest.String()))
		}
	}
	dir := w.TempDir()
	run := func(args ...string) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "COSIGN_PASSWORD=x")
		if out, err := cmd.CombinedOutput(); err != nil {
			w.Fatalf("cosign %s: %v\n%s", args, err, out)
		}
	}
	run("generate-key-pair")
	return filepath.Join(dir, "cosign.pub"), func(of, beside ocispec.Descriptor) {
		run("sign", "--key", "cosign.key", "--tlog-upload=false", "--use-signing-config=false",
			"--new-bundle-format=false", "--yes", at.Ref("@"+of.Digest.String()))
		text, mediaType := at.Get(signaturetest.TagOf(of))
		at.Put(signaturetest.TagOf(beside), mediaType, text)
	}
}

// bundles is a key with which bundles of sigstore are made, which refer to an image.
func (w *world) bundles(at registrytest.Repository) (public string, sign cosigner) {
	w.Helper()
	key := signaturetest.NewCosign(w)
	return key.Public, func(of, beside ocispec.Descriptor) {
		signaturetest.Refer(at, beside, key.Bundle(w, of.Digest.String(), signaturetest.PredicateSign))
	}
}

// cosigned is what is pushed to a registry and signed there. Push gives what was pushed under the tag of a version.
func cosigned(at registrytest.Repository, key func(registrytest.Repository) (string, cosigner),
	push func(version, manifests string) ocispec.Descriptor,
) signedPublication {
	public, sign := key(at)
	_, other := key(at)
	return signedPublication{
		config: "keys: [" + public + "]",
		publish: func(version, manifests string, as how) {
			d := push(version, manifests+"\n# "+string(as)) // each is another image
			switch as {
			case signed:
				sign(d, d)
			case byAnother:
				other(d, d)
			case ofOther:
				sign(d, push(version, manifests))
			}
		},
		source: func(version string) []string { return []string{"oci://" + at.Ref(":"+version)} },
		refused: map[how][]string{
			unsigned:  {"no signature was found", "sign it with `cosign sign`"},
			byAnother: {"it is signed with another key"},
			ofOther:   {"the signature of key sha256:", " is of sha256:"},
		},
	}
}

// signedImage is an image of manifests.
func signedImage(w *world) signedPublication {
	at := registrytest.Start(w).Repository("org/app")
	layer := func(manifests string) []byte { // without gzip: of two texts that are as long, it is as long
		zip, err := gzip.NewReader(bytes.NewReader(packed(w, map[string]string{"manifests/all.yaml": manifests})))
		if err != nil {
			w.Fatal(err)
		}
		text, err := io.ReadAll(zip)
		if err != nil {
			w.Fatal(err)
		}
		return text
	}
	p := cosigned(at, w.cosign, func(version, manifests string) ocispec.Descriptor {
		return at.Image(version, ocispec.MediaTypeImageLayer, layer(manifests))
	})
	publish := p.publish
	p.publish = func(version, manifests string, as how) {
		if as != otherBytes {
			publish(version, manifests, as)
			return
		}
		publish(version, configMap("a", "of alice,"), signed)
		at.Replace(at.Layer(at.Find(version)), layer(configMap("a", "not alice")+"\n# "+string(signed)))
	}
	p.refused[otherBytes] = []string{"sends something else than it was asked", "do not use the image"}
	return p
}

// signedChart is a chart that the real helm has pushed.
func signedChart(w *world) signedPublication {
	at, dir := registrytest.Start(w).Repository("charts/web"), w.TempDir()
	return cosigned(at, w.bundles, func(version, manifests string) ocispec.Descriptor {
		file := w.chartArchive(dir, "web", version, manifests)
		w.helmAlone("push", file, "oci://"+at.Host+"/charts", "--plain-http")
		return at.Find(version)
	})
}

// provenances are what a maintainer of charts has, and another.
type provenances struct {
	*world
	alice, mallory signaturetest.Maintainer
	dir            string // of the archives
}

func newProvenances(w *world) provenances {
	return provenances{
		w, signaturetest.NewMaintainer(w, "alice", nil), signaturetest.NewMaintainer(w, "mallory", nil), w.TempDir(),
	}
}

// pack makes an archive, with provenance as helm writes it.
func (p provenances) pack(version, manifests string, as how) (file string) {
	p.Helper()
	sign := func(by signaturetest.Maintainer, name string) {
		p.tree(p.dir, map[string]string{
			"web/Chart.yaml":         "{apiVersion: v2, name: web, version: " + version + "}",
			"web/templates/all.yaml": manifests,
		})
		p.helmAlone("package", filepath.Join(p.dir, "web"), "--sign", "--key", name, "--keyring", by.Secret(p), "-d",
			p.dir)
	}
	file = filepath.Join(p.dir, "web-"+version+".tgz")
	switch as {
	case unsigned:
		_ = os.Remove(file + ".prov")
		return p.chartArchive(p.dir, "web", version, manifests)
	case byAnother:
		sign(p.mallory, "mallory")
		return file
	}
	sign(p.alice, "alice")
	if as == signed {
		return file
	}
	was := p.sha256(file)
	p.chartArchive(p.dir, "web", version, configMap("a", "of mallory"))
	if as == madeToFit {
		text, err := os.ReadFile(file + ".prov")
		if err != nil {
			p.Fatal(err)
		}
		p.write(p.dir, filepath.Base(file)+".prov", strings.ReplaceAll(string(text), was, p.sha256(file)))
	}
	return file
}

// publication is a chart with provenance that is published by putting its archive somewhere.
func (p provenances) publication(missing string, put func(file string), source func(version string) []string,
) signedPublication {
	return signedPublication{
		config:  "keyring: " + p.alice.Ring,
		publish: func(version, manifests string, as how) { put(p.pack(version, manifests, as)) },
		source:  source,
		refused: map[how][]string{
			unsigned:  {missing},
			byAnother: {"key " + p.mallory.ID[24:], "is not in the keyring"},
			ofOther:   {"has signed sha256:"},
			madeToFit: {"the signature of its provenance", "is not of this text"},
		},
	}
}

// signedArchive is an archive on disk with its provenance.
func signedArchive(w *world) signedPublication {
	p := newProvenances(w)
	return p.publication("no signature was found", func(string) {}, func(version string) []string {
		return []string{filepath.Join(p.dir, "web-"+version+".tgz")}
	})
}

// signedRepository is a chart repository with provenances.
func signedRepository(w *world) signedPublication {
	p := newProvenances(w)
	server := httptest.NewServer(http.FileServer(http.Dir(p.dir)))
	w.Cleanup(server.Close)
	index := func(string) { w.helmAlone("repo", "index", p.dir) }
	return p.publication("no signature was found", index, func(version string) []string {
		return []string{"repo+" + server.URL + "//web", "--version", version}
	})
}

// signedPush is a chart whose provenance helm has pushed along with it.
func signedPush(w *world) signedPublication {
	p, host := newProvenances(w), registrytest.Start(w).Host
	return p.publication("no provenance was pushed along with it", func(file string) {
		w.helmAlone("push", file, "oci://"+host+"/charts", "--plain-http")
	}, func(version string) []string { return []string{fmt.Sprintf("oci://%s/charts/web:%s", host, version)} })
}

// sha256 is the digest of a file.
func (w *world) sha256(file string) string {
	w.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		w.Fatal(err)
	}
	return digest.FromBytes(text).String()
}
