package cmdutil

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// Sources fetches the sources of bundles with the caller's own logins, and keeps content
// between runs in a directory of theirs.
func (f *Factory) Sources() (s source.Fetcher, err error) {
	dir := f.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return s, fault.New(fault.InvalidArgument, "there is no directory to unpack bundles in: %w", err).
				WithHint("set HOME or XDG_CACHE_HOME")
		}
		dir = filepath.Join(home, ".cache")
	}
	cache := content.NewCache(filepath.Join(dir, "berth", "bundles"), content.DefaultCacheSize)
	return source.Fetcher{Cache: cache, Limits: content.DefaultLimits(), Getenv: f.Getenv}, nil
}

// FollowedBundles works on the bundles of the cluster, and follows their pods under the
// configured policy.
func (d *Dependencies) FollowedBundles(ctx context.Context, system string) (r instance.Reconciler, err error) {
	c, err := Await(ctx, d.Config)
	if err != nil {
		return r, err
	}
	r, err = d.Bundles(ctx, system)
	r.Policy = c.Policy
	return r, err
}

// Bundles works on the bundles of the cluster, with what is kept in a system namespace.
func (f *Factory) Bundles(ctx context.Context, system string) (r instance.Reconciler, err error) {
	client, err := Await(ctx, f.Client)
	if err != nil {
		return r, err
	}
	sources, err := f.Sources()
	sources.Cluster = &source.Cluster{Client: client.CoreV1(), Namespace: system}
	guard := &installer.Guard{Client: client.Dynamic, System: system, Now: time.Now}
	return instance.Reconciler{
		Own: client, Installs: client, Guard: guard, System: system, Fetcher: sources, Now: time.Now,
	}, err
}

// AddRenderFlag adds the flag that says how long the rendering of a chart may take.
func AddRenderFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "render-timeout", chart.DefaultTime,
		"how long the templates of a chart, or the building of a kustomization, may take")
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
	cmd.Flags().DurationVar(
		limit, source.FlagTime, source.DefaultTime, "how long fetching the source of a bundle may take",
	)
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
	flags.StringSliceVar(
		&trust.Hosts, server.FlagHost, nil,
		"a server outside of the cluster that may be sent your token, for bundles that another program has "+
			"unpacked: HOST[:PORT]",
	)
	flags.StringVar(
		&trust.CAFile, server.FlagCA, "", "the file of the CA of servers that content is fetched from, in PEM",
	)
}
