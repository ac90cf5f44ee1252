package cmdutil

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/server"
)

// AddContentFlags adds the flags that say which other programs that serve the content of
// bundles are sent the caller's token. Trust.Check finds out whether they are right.
func AddContentFlags(cmd *cobra.Command, trust *server.Trust) {
	flags := cmd.Flags()
	flags.StringSliceVar(&trust.Hosts, server.FlagHost, nil, "a server outside of the cluster that may be sent your token, for bundles that another program has unpacked: HOST[:PORT]")
	flags.StringVar(&trust.CAFile, server.FlagCA, "", "the file of the CA of servers that content is fetched from, in PEM")
}
