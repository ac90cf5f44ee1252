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
	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// Sources fetches the sources of bundles with the caller's own logins, and keeps content
// between runs in a directory of theirs.
func (f *Factory) Sources() (s source.Fetcher, err error) {
	dir, err := f.cacheDir()
	if err != nil {
		return s, err
	}
	cache := content.NewCache(filepath.Join(dir, "bundles"), content.DefaultCacheSize)
	return source.Fetcher{Cache: cache, Limits: content.DefaultLimits(), Getenv: f.Getenv}, nil
}

// cacheDir is where what can be fetched again is kept between runs.
func (f *Factory) cacheDir() (string, error) {
	dir := f.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fault.New(fault.InvalidArgument, "there is no directory to unpack bundles in: %w", err).
				WithHint("set HOME or XDG_CACHE_HOME")
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "berth"), nil
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

// VerifiedBundles is FollowedBundles for what fetches: only what is signed as the configuration and the flags of
// AddVerifyFlags say.
func (d *Dependencies) VerifiedBundles(ctx context.Context, system string) (r instance.Reconciler, err error) {
	if r, err = d.FollowedBundles(ctx, system); err == nil {
		r.Fetcher, err = d.verified(r.Fetcher)
	}
	return r, err
}

// ServedBundles is VerifiedBundles for a server, where nobody is at home.
func (d *Dependencies) ServedBundles(ctx context.Context, system string) (r instance.Reconciler, err error) {
	if r, err = d.FollowedBundles(ctx, system); err == nil {
		r.Fetcher.Getenv = nil // others say what is fetched: not with the logins of this process
		r.Fetcher, err = d.verified(r.Fetcher)
	}
	return r, err
}

// VerifiedSources is Sources for only what is signed as the configuration and the flags of AddVerifyFlags say.
func (d *Dependencies) VerifiedSources() (s source.Fetcher, err error) {
	if s, err = d.Sources(); err == nil {
		s, err = d.verified(s)
	}
	return s, err
}

// verified is a fetcher of only what is signed. A server, which has no environment, keeps the root of sigstore's public
// instance in memory.
func (d *Dependencies) verified(s source.Fetcher) (source.Fetcher, error) {
	c, err := d.Config()
	if err != nil {
		return s, err
	}
	dir := ""
	if s.Getenv != nil {
		if dir, err = d.cacheDir(); err != nil {
			return s, err
		}
	}
	policy, err := c.Bundles.Policy(s.Getenv, dir)
	return s.Verifying(policy), err
}

// AddVerifyFlags adds the flags that say by whom a bundle has to be signed; the configuration reads them.
func AddVerifyFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Bool(signature.FlagVerify, false,
		"take only what is signed: with a key of --"+signature.FlagKey+" or --"+signature.FlagKeyring+", or by --"+
			signature.FlagIdentity+", or else as the configuration says, or with helm's own keyring")
	flags.StringArray(signature.FlagKey, nil,
		"the file of a public key of cosign with which an image or a chart in a registry has to be signed; "+
			"repeatable, one of them suffices")
	flags.String(signature.FlagKeyring, "",
		"the file of OpenPGP keys with which the provenance of a chart has to be signed, as helm writes it")
	flags.String(signature.FlagIdentity, "",
		"the identity that has to have signed an image or a chart in a registry with cosign and without a key: an "+
			"address, or the URL of a workflow; needs an issuer")
	flags.String(signature.FlagIdentityRegExp, "",
		"a regular expression that matches the whole of such an identity, instead of --"+signature.FlagIdentity)
	flags.String(signature.FlagIssuer, "",
		"by whom that identity has logged in, such as https://token.actions.githubusercontent.com")
	flags.String(signature.FlagIssuerRegExp, "",
		"a regular expression that matches the whole of such an issuer, instead of --"+signature.FlagIssuer)
	flags.String(signature.FlagRoot, "",
		"the file of sigstore's trusted_root.json, with the authorities and logs that vouch for identities, instead "+
			"of those of its public instance, which are fetched and kept for a day")
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
