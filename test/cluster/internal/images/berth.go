package images

import (
	"fmt"
	"os"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Berth is the repository of the image of berth itself: the static program on nothing,
// as a release has it. A test puts its program into the directory Programs of the
// cluster; the name of the file is the tag.
const (
	Berth    = "berth/berth"
	Programs = "programs"
)

// Program makes an image of one static program and nothing else.
func Program(name, path string) (v1.Image, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	layer, err := uncompressed([]entry{file("berth", 0o755, content)})
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", name, err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{
		Entrypoint: []string{"/berth"}, User: "65532:65532",
		Labels: map[string]string{"org.opencontainers.image.ref.name": name},
	}
	return mutate.ConfigFile(image, config)
}
