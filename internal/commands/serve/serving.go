package serve

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

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
