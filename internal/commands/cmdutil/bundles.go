package cmdutil

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/source"
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
	return instance.Reconciler{Own: client, Installs: client, Guard: guard, System: system, Fetcher: sources, Now: time.Now}, err
}
