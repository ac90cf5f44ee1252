package provider

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

const loginHint = "check the spelling; if it is private, configure a provider with a login under identity.providers: " +
	"`kind: github` or `kind: git`, with tokenEnv, tokenFile or cli"

// remotes reads the .k8shell.yaml of repositories at any remote that git can reach.
type remotes struct {
	url        string   // with {owner} and {name} in it
	ssh        []string // the client for remotes behind SSH
	credential func(remote *url.URL) *credential.Source
}

// Custom reads the file at the ref as it was typed, or else lowered.
func (r *remotes) Custom(ctx context.Context, u userstring.UserString) (*blueprint.Source, error) {
	if u.Form() != userstring.Repo {
		return nil, identity.ErrNotResponsible
	}
	address, err := r.address(u)
	if err != nil {
		return nil, err
	}
	remote := git.Remote{
		URL: address, Credential: r.credential(address), SSH: r.ssh, LoginHint: loginHint,
		Limits: git.Limits{Transfer: 64 << 20, Unpacked: 256 << 20, File: yamldoc.MaxFile},
	}
	snapshot, err := remote.Fetch(ctx, refs(u)...)
	if err != nil {
		return nil, err
	}
	text, err := snapshot.ReadFile(ctx, blueprint.CustomFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &blueprint.Source{Name: snapshot.Location(blueprint.CustomFile), Text: text, Commit: snapshot.Commit}, nil
}

// address puts owner and name into the remote's URL. They come from a user
// string and stay names: no way up, no way out of the path.
func (r *remotes) address(u userstring.UserString) (*url.URL, error) {
	u = u.In(userstring.Own) // a part of the path each
	owner := strings.Split(u.RepoOwner, "/")
	for _, segment := range append(owner, u.RepoName) {
		if segment == "." || segment == ".." || strings.HasPrefix(segment, "-") ||
			strings.ContainsAny(segment, `\:?#`) {
			return nil, fault.New(fault.InvalidArgument, "repo %s/%s: invalid segment %q", u.RepoOwner, u.RepoName,
				segment)
		}
	}
	for i := range owner {
		owner[i] = url.PathEscape(owner[i])
	}
	text := strings.NewReplacer("{owner}", path.Join(owner...), "{name}", url.PathEscape(u.RepoName)).Replace(r.url)
	remote, err := git.ParseAddress(text)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "identity provider git: invalid url").
			WithHint("correct `url` under identity.providers in the configuration")
	}
	return remote, nil
}

// refs are the ref as it was typed, and then as it is in the canonical key. An empty one is the default branch.
func refs(u userstring.UserString) []string {
	if u.RefTyped == u.Ref {
		return []string{u.Ref}
	}
	return []string{u.RefTyped, u.Ref}
}
