package commands

import (
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/watch"
)

// app is what the commands share. What a command needs of it is made when it
// runs, so that help and completion need neither cluster nor configuration.
type app struct {
	streams terminal.Streams
	kube    *genericclioptions.ConfigFlags

	mu       sync.Mutex
	progress terminal.Renderer
}

func newApp(streams terminal.Streams) *app {
	return &app{streams: streams, kube: genericclioptions.NewConfigFlags(true)}
}

func (a *app) client() (*kube.Client, error) {
	return kube.NewClient(a.kube, "berth/"+buildInfo().Version)
}

// provisioner makes what the verbs work with.
func (a *app) provisioner(cmd *cobra.Command) (*provision.Provisioner, error) {
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err != nil {
		return nil, err
	}
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	return &provision.Provisioner{
		Client:           client,
		Identity:         identity.Kubernetes{Client: client},
		Blueprints:       func() (*blueprint.Set, error) { return blueprint.Load(c.Blueprints) },
		DefaultBlueprint: c.DefaultBlueprint,
		DefaultRegistry:  c.DefaultRegistry,
		Policy:           watch.DefaultPolicy(),
		Now:              time.Now,
	}, nil
}

// startProgress makes the one renderer of a command that works for a while.
func (a *app) startProgress(mode terminal.Mode, title terminal.Title) terminal.Renderer {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.progress = terminal.Progress(a.streams, mode, title)
	return a.progress
}

// stopProgress gives the terminal back, for whoever leaves at once.
func (a *app) stopProgress() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.progress != nil {
		a.progress.Stop()
	}
}
