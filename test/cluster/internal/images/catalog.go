package images

import (
	"fmt"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Pause is the image that every pod's sandbox runs.
const Pause = "pause:3.10"

// Agent is the image that stands in for that of a workspace's agent.
const Agent = "berth/k8shelld:v1"

// PaddingSize is the size of the layer that makes a slow image slow.
const PaddingSize = 1 << 20

// pause waits for its end as the first process of a pod, and reaps what a pod
// with a shared process namespace leaves to it: the shell collects any child
// while it waits.
const pause = `#!/bin/busybox sh
trap 'exit 0' TERM INT
while :; do
  sleep 86400 &
  wait
done
`

// crash stands in for a workspace image whose set-up is broken.
const crash = `#!/bin/busybox sh
echo 'starting workspace' >&2
echo 'nodenv: not found' >&2
exit 1
`

// hungry eats memory until it is stopped: tail keeps a line until it ends, and
// this one never does.
const hungry = `#!/bin/busybox sh
exec /bin/busybox tail /dev/zero
`

// Catalog makes images out of one userland.
type Catalog struct {
	userland v1.Layer
}

// NewCatalog reads the userland.
func NewCatalog() (*Catalog, error) {
	base, err := userland()
	if err != nil {
		return nil, err
	}
	return &Catalog{userland: base}, nil
}

// Fixed lists what the registry always holds, as repository:tag.
func (c *Catalog) Fixed() (map[string]v1.Image, error) {
	images := map[string]v1.Image{}
	scripts := map[string]string{
		"berth/workspace:v1":     "",
		"berth/workspace:v2":     "",
		"private/workspace:v1":   "",
		"library/alpine:3.22":    "",
		"library/busybox:stable": "",
		"berth/crash:v1":         crash,
		"berth/oom:v1":           hungry,
	}
	for name, shell := range scripts {
		image, err := c.withShell(name, shell)
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", name, err)
		}
		images[name] = image
	}
	standIn, err := c.agent(Agent)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", Agent, err)
	}
	images[Agent] = standIn
	image, err := c.pause()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", Pause, err)
	}
	images[Pause] = image
	return images, nil
}

// IsSlow says whether a name is one of the slow images, which there are as
// many of as there are tags: an image is only slow until it has been pulled
// once, and everyone who needs a slow one takes a tag of their own.
func IsSlow(repository, tag string) bool {
	switch repository {
	case "berth/workspace", "shop/slow":
		return strings.HasPrefix(tag, "slow") || repository == "shop/slow" && tag == "v1"
	}
	return false
}

// Slow makes a slow image, and says which layer makes it so.
func (c *Catalog) Slow(name string) (v1.Image, v1.Layer, error) {
	pad, err := padding(name, PaddingSize)
	if err != nil {
		return nil, nil, err
	}
	image, err := c.build(name, v1.Config{Cmd: []string{"/bin/sh"}}, pad)
	return image, pad, err
}

// withShell makes an image with another /bin/sh, if one is given.
func (c *Catalog) withShell(name, script string) (v1.Image, error) {
	var extra []v1.Layer
	if script != "" {
		shell, err := layer([]entry{file("bin/sh", 0o755, []byte(script))})
		if err != nil {
			return nil, err
		}
		extra = append(extra, shell)
	}
	return c.build(name, v1.Config{Cmd: []string{"/bin/sh"}}, extra...)
}

func (c *Catalog) pause() (v1.Image, error) {
	script, err := layer([]entry{file("pause", 0o755, []byte(pause))})
	if err != nil {
		return nil, err
	}
	return c.build(Pause, v1.Config{Entrypoint: []string{"/pause"}, User: "65534:65534"}, script)
}

// build puts layers on top of the userland. The name goes into the
// configuration, so that no two images have the same ID: the kubelet would
// take one for the other when it asks whether a password is needed.
func (c *Catalog) build(name string, config v1.Config, extra ...v1.Layer) (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, append([]v1.Layer{c.userland}, extra...)...)
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", runtime.GOARCH, config
	file.Config.Labels = map[string]string{"org.opencontainers.image.ref.name": name}
	file.Config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return mutate.ConfigFile(image, file)
}
