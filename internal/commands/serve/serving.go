package serve

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// Serving are the options of every role that users ask.
type Serving struct {
	Listen, MetricsListen string
	Cert, Key             string
}

// flags adds them; what is what is served.
func (s *Serving) flags(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&s.Listen, "listen", "127.0.0.1:8443", "the address to serve "+what+" on")
	flags.StringVar(&s.MetricsListen, "metrics-listen", "127.0.0.1:8081", "the address of health and metrics")
	flags.StringVar(&s.Cert, "tls-cert", "", "the file of the certificate; it is read again when it changes")
	flags.StringVar(&s.Key, "tls-key", "", "the file of the certificate's key")
}

func (s *Serving) validate() error {
	if (s.Cert == "") != (s.Key == "") {
		return fault.New(fault.InvalidArgument, "--tls-cert and --tls-key are given together")
	}
	return nil
}
