package identity

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// DefaultRemote is where repositories are if nothing is configured.
const DefaultRemote = "https://github.com/{owner}/{name}.git"

// Git reads the .k8shell.yaml of repositories at any remote that git can reach.
// It knows no users.
type Git struct {
	remote string   // with {owner} and {name} in it
	ssh    []string // the program for remotes behind SSH
	source func(remote *url.URL) tokenSource
}

// Resolve knows nobody.
func (*Git) Resolve(_ context.Context, username string) (User, error) {
	return User{}, unknown(username, KindGit)
}

// Caller cannot be told.
func (*Git) Caller(context.Context) (string, error) { return "", nil }

// Custom asks the remote what it has, and then for no more than the one file
// where the remote can give single files, else for one commit without history.
func (g *Git) Custom(ctx context.Context, u userstring.UserString) (*Custom, error) {
	if u.Form() != userstring.Repo {
		return nil, errElsewhere
	}
	remote, err := g.address(u)
	if err != nil {
		return nil, err
	}
	where := strings.TrimPrefix(remote.Host, "www.")
	if where == "" {
		where = remote.Scheme
	}
	r := &remoteRepository{where: where, user: u, url: remote, ssh: g.ssh, token: &lazyToken{source: g.source(remote)}}
	custom, err := r.custom(ctx)
	if err != nil {
		return nil, r.fault(ctx, err)
	}
	return custom, nil
}

// address puts owner and name into the remote's address. They come from a user
// string and stay names: no way up, no way out of the path.
func (g *Git) address(u userstring.UserString) (*url.URL, error) {
	for _, segment := range append(strings.Split(u.RepoOwner, "/"), u.RepoName) {
		if segment == "." || segment == ".." || strings.HasPrefix(segment, "-") || strings.ContainsAny(segment, `\:?#`) {
			return nil, fault.New(fault.InvalidArgument, "repo %s/%s: %q is no part of a repository's name", u.RepoOwner, u.RepoName, segment)
		}
	}
	owner := strings.Split(u.RepoOwner, "/")
	for i := range owner {
		owner[i] = url.PathEscape(owner[i])
	}
	text := strings.NewReplacer("{owner}", path.Join(owner...), "{name}", url.PathEscape(u.RepoName)).Replace(g.remote)
	remote, err := url.Parse(text)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "identity provider git: the address of the remote cannot be read").
			WithHint("mend `url` under identity.providers in the configuration")
	}
	return remote, nil
}

// remoteRepository is one repository at its remote.
type remoteRepository struct {
	where string
	user  userstring.UserString
	url   *url.URL
	ssh   []string
	token *lazyToken
}

func (r *remoteRepository) custom(ctx context.Context) (*Custom, error) {
	session, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	advertised, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, err
	}
	ref, commit, ok := chooseRef(advertised, refsToTry(r.user))
	if !ok {
		return nil, noRef(r.where, r.user)
	}
	f := &fetch{repository: r, capabilities: advertised.Capabilities, storage: newBoundedStorage()}
	if err := f.get(ctx, session, commit, f.single()); err != nil {
		return nil, err
	}
	tree, err := f.tree(commit)
	if err != nil {
		return nil, err
	}
	origin := customOrigin(r.where, r.user, ref)
	i := slices.IndexFunc(tree.Entries, func(e object.TreeEntry) bool { return e.Name == CustomFile })
	if i < 0 {
		return nil, nil
	}
	entry := tree.Entries[i]
	if entry.Mode != filemode.Regular && entry.Mode != filemode.Executable && entry.Mode != filemode.Deprecated {
		return nil, noFile(origin)
	}
	text, err := f.blob(ctx, entry.Hash)
	if errors.Is(err, errBlobTooLarge) {
		return nil, tooLarge(origin)
	}
	if err != nil {
		return nil, err
	}
	return &Custom{YAML: text, Origin: origin}, nil
}

// chooseRef finds the commit that one of the refs means: a branch, a tag, or a
// commit by its full hash or the beginning of one that a branch or tag has. The
// first ref that means anything wins; a branch wins over a tag.
func chooseRef(advertised *packp.AdvRefs, refs []string) (ref string, commit plumbing.Hash, ok bool) {
	for _, ref := range refs {
		if ref == "" {
			if advertised.Head != nil {
				return "", *advertised.Head, true
			}
			continue
		}
		for _, name := range []string{"refs/heads/" + ref, "refs/tags/" + ref, ref} {
			if peeled, ok := advertised.Peeled[name]; ok {
				return ref, peeled, true
			}
			if hash, ok := advertised.References[name]; ok {
				return ref, hash, true
			}
		}
		if hash, ok := chooseCommit(advertised, strings.ToLower(ref)); ok {
			return ref, hash, true
		}
	}
	return "", plumbing.ZeroHash, false
}

const shortestHash = 7

func chooseCommit(advertised *packp.AdvRefs, text string) (plumbing.Hash, bool) {
	if len(text) < shortestHash || strings.Trim(text, "0123456789abcdef") != "" {
		return plumbing.ZeroHash, false
	}
	if plumbing.IsHash(text) {
		return plumbing.NewHash(text), true
	}
	for _, refs := range []map[string]plumbing.Hash{advertised.Peeled, advertised.References} {
		for _, hash := range refs {
			if strings.HasPrefix(hash.String(), text) {
				return hash, true
			}
		}
	}
	return plumbing.ZeroHash, false
}

// canFilter is true of a remote that gives single objects.
func canFilter(c *capability.List) bool {
	return c.Supports(capability.Filter) && (c.Supports(capability.AllowReachableSHA1InWant) || c.Supports(capability.Capability("allow-any-sha1-in-want")))
}

func readAll(r io.ReadCloser, limit int64) ([]byte, error) {
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(raw)) > limit {
		return nil, errBlobTooLarge
	}
	return raw, err
}

const maxBlob = yamldoc.MaxFile
