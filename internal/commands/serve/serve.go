// Package serve is the commands below `berth serve`.
package serve

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
)

// NewCmd makes the commands.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	var cmd *cobra.Command
	backend := func(ctx context.Context, o BackendOptions) (Backend, error) {
		r, err := f.For(cmd).ServedBundles(ctx, o.Namespace)
		if err != nil {
			return nil, err
		}
		r.BaseURL, r.Trust, r.RenderTime = o.BaseURL, o.Trust, o.RenderTimeout
		if !o.AllowSystem {
			r.Reserved = installer.Reserved{System: o.Namespace}
		}
		r.Fetcher.Time = o.FetchTimeout
		if r, err = r.As(o.Installer); err != nil {
			return nil, err
		}
		return instance.NewBackend(r), nil
	}
	cmd = cmdutil.Group(&cobra.Command{
		Use:   "serve",
		Short: "Run berth as a server, and print what runs it in a cluster",
		Long: `Everything works from a terminal with nothing installed. What is worth running all
the time, for teams, is served by the same program. These commands run in a pod;
` + "`berth serve manifests`" + ` prints what runs them there.`,
	})
	cmd.AddCommand(NewBundles(f, backend, Bundles), NewGateway(f, Gateway), NewVolumes(f, Volumes),
		NewWorkspaces(f, Workspaces), NewManifests(f, Manifests), NewAsk(f, Ask))
	return cmd
}

// Serving are the options of every role that users ask.
type Serving struct {
	Listen string
	About
}

// flags adds them; what is what is served.
func (s *Serving) flags(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&s.Listen, "listen", "127.0.0.1:8443", "the address to serve "+what+" on")
	s.About.flags(cmd)
}

// About are the options of every role: health and metrics, and the certificate.
type About struct{ MetricsListen, Cert, Key string }

func (a *About) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&a.MetricsListen, "metrics-listen", "127.0.0.1:8081", "the address of health and metrics")
	flags.StringVar(&a.Cert, "tls-cert", "", "the file of the certificate; it is read again when it changes")
	flags.StringVar(&a.Key, "tls-key", "", "the file of the certificate's key")
}

func (a *About) validate() error {
	if (a.Cert == "") != (a.Key == "") {
		return fault.New(fault.InvalidArgument, "--tls-cert and --tls-key are given together")
	}
	return nil
}

// invalid is what is wrong with options.
func invalid(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...)
}
