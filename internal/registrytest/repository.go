package registrytest

import (
	"encoding/json"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Repository is one of a registry, into which a test puts what it likes: nothing is checked.
type Repository struct {
	*Registry
	name string
}

// Repository is the repository of a name.
func (r *Registry) Repository(name string) Repository { return Repository{Registry: r, name: name} }

// Ref is the reference of an image, with :TAG or @DIGEST.
func (r Repository) Ref(suffix string) string { return r.Host + "/" + r.name + suffix }

// Blob keeps a blob.
func (r Repository) Blob(mediaType string, text []byte) ocispec.Descriptor {
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	r.Replace(d.Digest, text)
	return d
}

// Replace makes something else of the blob of a digest.
func (r Repository) Replace(d digest.Digest, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content.At["/v2/"+r.name+"/blobs/"+d.String()] = text
}

// Put keeps a text as a manifest.
func (r Repository) Put(tag, mediaType string, text []byte) ocispec.Descriptor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.put("/v2/"+r.name, tag, mediaType, text)
}

// Manifest keeps a manifest.
func (r Repository) Manifest(tag string, m ocispec.Manifest) ocispec.Descriptor {
	m.SchemaVersion, m.MediaType = 2, ocispec.MediaTypeImageManifest
	text, _ := json.Marshal(m) // plain fields
	return r.Put(tag, m.MediaType, text)
}

// Index keeps an index of manifests.
func (r Repository) Index(tag string, of ...ocispec.Descriptor) ocispec.Descriptor {
	index := ocispec.Index{MediaType: ocispec.MediaTypeImageIndex, Manifests: of}
	index.SchemaVersion = 2
	text, _ := json.Marshal(index) // plain fields
	return r.Put(tag, index.MediaType, text)
}

// Image keeps an image of one layer.
func (r Repository) Image(tag, mediaType string, layer []byte) ocispec.Descriptor {
	return r.Manifest(tag, ocispec.Manifest{
		Config: r.Blob(ocispec.MediaTypeImageConfig, []byte("{}")),
		Layers: []ocispec.Descriptor{r.Blob(mediaType, layer)},
	})
}

// Get is the text of a tag, and its media type; both are empty if there is none.
func (r Repository) Get(tag string) (text []byte, mediaType string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := "/v2/" + r.name + "/manifests/" + tag
	return r.content.At[path], r.content.Types[path]
}

// Find is what a tag leads to.
func (r Repository) Find(tag string) ocispec.Descriptor {
	text, mediaType := r.Get(tag)
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
}

// Layer is the digest of the first layer of an image.
func (r Repository) Layer(of ocispec.Descriptor) digest.Digest {
	var m ocispec.Manifest
	text, _ := r.Get(of.Digest.String())
	if json.Unmarshal(text, &m) != nil || len(m.Layers) == 0 {
		return ""
	}
	return m.Layers[0].Digest
}
