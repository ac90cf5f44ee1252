package cmdutil

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/chart"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// AddRenderFlag adds the flag that says how long the rendering of a chart may take.
func AddRenderFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "render-timeout", chart.DefaultTime, "how long the templates of a chart may take")
}

// CheckRender finds out whether the flag of AddRenderFlag is right.
func CheckRender(limit time.Duration) error {
	if limit < 0 {
		return fault.New(fault.InvalidArgument, "--render-timeout must not be negative, got %s", limit)
	}
	return nil
}

// AddFetchFlag adds the flag that says how long fetching the source of a bundle may take, of
// commands that work on the bundles of others.
func AddFetchFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, source.FlagTime, source.DefaultTime, "how long fetching the source of a bundle may take")
}

// CheckFetch finds out whether the flag of AddFetchFlag is right.
func CheckFetch(limit time.Duration) error {
	if limit <= 0 {
		return fault.New(fault.InvalidArgument, "--%s must be positive, got %s", source.FlagTime, limit)
	}
	return nil
}

// AddContentFlags adds the flags that say which other programs that serve the content of
// bundles are sent the caller's token. Trust.Check finds out whether they are right.
func AddContentFlags(cmd *cobra.Command, trust *server.Trust) {
	flags := cmd.Flags()
	flags.StringSliceVar(&trust.Hosts, server.FlagHost, nil, "a server outside of the cluster that may be sent your token, for bundles that another program has unpacked: HOST[:PORT]")
	flags.StringVar(&trust.CAFile, server.FlagCA, "", "the file of the CA of servers that content is fetched from, in PEM")
}
