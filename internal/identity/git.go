package identity

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// DefaultRemote is where repositories are if nothing is configured.
const DefaultRemote = "https://github.com/{owner}/{name}.git"

const loginHint = "check the spelling; if it is private, configure a provider with a login under identity.providers: " +
	"`kind: github` or `kind: git`, with tokenEnv, tokenFile or cli"

// Git reads the .k8shell.yaml of repositories at any remote that git can reach.
// It knows no users.
type Git struct {
	remote string   // with {owner} and {name} in it
	ssh    []string // the client for remotes behind SSH
	source func(remote *url.URL) *credential.Source
}

// Resolve knows nobody.
func (*Git) Resolve(_ context.Context, username string) (User, error) {
	return User{}, unknown(username, KindGit)
}

// Caller cannot be told.
func (*Git) Caller(context.Context) (string, error) { return "", nil }

// Custom reads the file at the ref as it was typed, or else lowered.
func (g *Git) Custom(ctx context.Context, u userstring.UserString) (*Custom, error) {
	if u.Form() != userstring.Repo {
		return nil, errElsewhere
	}
	address, err := g.address(u)
	if err != nil {
		return nil, err
	}
	remote := git.Remote{
		URL: address, Credential: g.source(address), SSH: g.ssh, LoginHint: loginHint,
		Limits: git.Limits{Transfer: 64 << 20, Unpacked: 256 << 20, File: yamldoc.MaxFile},
	}
	snapshot, err := remote.Fetch(ctx, refsToTry(u)...)
	if err != nil {
		return nil, err
	}
	text, err := snapshot.ReadFile(ctx, CustomFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Custom{YAML: text, Origin: snapshot.Location(CustomFile)}, nil
}

// address puts owner and name into the remote's URL. They come from a user
// string and stay names: no way up, no way out of the path.
func (g *Git) address(u userstring.UserString) (*url.URL, error) {
	owner := strings.Split(u.RepoOwner, "/")
	for _, segment := range append(owner, u.RepoName) {
		if segment == "." || segment == ".." || strings.HasPrefix(segment, "-") || strings.ContainsAny(segment, `\:?#`) {
			return nil, fault.New(fault.InvalidArgument, "repo %s/%s: invalid segment %q", u.RepoOwner, u.RepoName, segment)
		}
	}
	for i := range owner {
		owner[i] = url.PathEscape(owner[i])
	}
	text := strings.NewReplacer("{owner}", path.Join(owner...), "{name}", url.PathEscape(u.RepoName)).Replace(g.remote)
	remote, err := url.Parse(text)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "identity provider git: invalid url").
			WithHint("correct `url` under identity.providers in the configuration")
	}
	return remote, nil
}
