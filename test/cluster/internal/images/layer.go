package images

import (
	"archive/tar"
	"bytes"
	"io"
	"math/rand/v2"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

type entry struct {
	header  tar.Header
	content []byte
}

func directory(name string, mode int64, owner int) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: mode, Uid: owner, Gid: owner}, nil}
}

func file(name string, mode int64, content []byte) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(content))}, content}
}

func layer(entries []entry) (v1.Layer, error) {
	content, err := archive(entries)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	})
}

// uncompressed is a layer that is served as it is: within one machine that is
// quicker, if it is large.
func uncompressed(entries []entry) (v1.Layer, error) {
	content, err := archive(entries)
	if err != nil {
		return nil, err
	}
	return static.NewLayer(content, types.DockerUncompressedLayer), nil
}

func archive(entries []entry) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, e := range entries {
		if err := w.WriteHeader(&e.header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// padding is a layer of a size that no compression takes away; the same one
// for the same seed.
func padding(seed string, size int) (v1.Layer, error) {
	var key [32]byte
	copy(key[:], seed)
	content := make([]byte, size)
	if _, err := rand.NewChaCha8(key).Read(content); err != nil {
		return nil, err
	}
	return layer([]entry{file("padding", 0o644, content)})
}
