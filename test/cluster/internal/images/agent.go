package images

import (
	"embed"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// agentFiles stand in for k8shell's agent: they keep as much of its contract as workspaces depend on, and refuse to
// start where it does. They are written from what is known of the original, which docs/k8shell.md has, and not from
// what berth makes.
//
//go:embed agent
var agentFiles embed.FS

// AgentDist is where the image of an agent has its files.
const AgentDist = "k8shell/dist"

// agent makes the image that stands in for k8shelld's: files, and no entry point.
func (c *Catalog) agent(name string) (v1.Image, error) {
	entries := []entry{
		directory("k8shell", 0o755, 0), directory(AgentDist, 0o755, 0), directory(AgentDist+"/scripts", 0o755, 0),
	}
	for _, path := range []string{"k8shelld", "kbox", "sftp", "scripts/init-base"} {
		content, err := agentFiles.ReadFile("agent/" + path)
		if err != nil {
			return nil, fmt.Errorf("read the stand-in's %s: %w", path, err)
		}
		entries = append(entries, file(AgentDist+"/"+path, 0o755, content))
	}
	files, err := layer(entries)
	if err != nil {
		return nil, err
	}
	return c.build(name, v1.Config{}, files)
}
