package commands

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// app is what the commands share. What a command needs of it is made when it
// runs, so that help and completion need neither cluster nor configuration.
type app struct {
	streams terminal.Streams
	kube    *genericclioptions.ConfigFlags

	mu      sync.Mutex
	leaving []func() // gives the terminal back
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
	who, err := provider.NewChain(c.Identity, provider.Dependencies{Client: client, Self: kube.Self(client.Config), Namespace: client.Namespace, Getenv: os.Getenv})
	if err != nil {
		return nil, err
	}
	return &provision.Provisioner{
		Reader:           inventory.Reader{Client: client, Policy: c.Policy, Now: time.Now},
		Users:            who,
		Repositories:     who,
		Blueprints:       func(ctx context.Context) (*blueprint.Set, error) { return loadFrom(ctx, c, client) },
		DefaultBlueprint: c.DefaultBlueprint,
		DefaultRegistry:  c.DefaultRegistry,
		Access:           func() (manifest.Access, error) { return access(c, os.Getenv) },
		Certificate:      certificate(c.Certificate),
		Injection:        provision.InjectionRules{Namespaces: c.InjectNamespaces},
	}, nil
}

// startProgress makes the one renderer of a command that works for a while.
func (a *app) startProgress(format printer.Format, title wording.Title) progress.Renderer {
	view := progress.New(a.streams, progress.ModeOf(format), title)
	a.onLeave(view.Stop)
	return view
}

// startProgressOfMany makes that of a command that works on several workspaces.
func (a *app) startProgressOfMany(format printer.Format, b wording.Batch) progress.Renderer {
	view := progress.OfMany(a.streams, progress.ModeOf(format), b)
	a.onLeave(view.Stop)
	return view
}

// onLeave registers what gives the terminal back.
func (a *app) onLeave(restore func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leaving = append(a.leaving, restore)
}

// leave gives the terminal back, for whoever leaves at once.
func (a *app) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, restore := range a.leaving {
		restore()
	}
}
