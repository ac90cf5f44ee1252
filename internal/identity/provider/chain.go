// Package provider has the kinds of identity providers, and builds a chain of them from the configuration.
package provider

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
)

// Dependencies are what providers need in addition to their settings.
type Dependencies struct {
	Client kube.Interface
	// Self is the user that the caller's credentials name, see kube.Self.
	Self string
	// Namespace is the current one.
	Namespace string
	Getenv    func(string) string
}

// defaultTimeout is how long one provider may take for one answer.
const defaultTimeout = 10 * time.Second

// NewChain builds the configured chain. It sends no request.
func NewChain(c Config, d Dependencies) (identity.Chain, error) {
	if len(c.Providers) == 0 {
		c.Providers = []Settings{{Kind: KindKubernetes}, {Kind: KindGit}}
	}
	var chain identity.Chain
	for _, s := range c.Providers {
		p, err := s.provider(d)
		if err != nil {
			return nil, err
		}
		p.Timeout = defaultTimeout
		if timeout, err := time.ParseDuration(s.Timeout); err == nil {
			p.Timeout = timeout
		}
		chain = append(chain, p)
	}
	return chain, nil
}

func (s Settings) provider(d Dependencies) (identity.Provider, error) {
	switch s.Kind {
	case KindKubernetes:
		users := cluster{client: d.Client, stripPrefix: s.StripPrefix, self: d.Self}
		return identity.Provider{Name: s.Kind, Users: users}, nil
	case KindFile:
		list := fileList(s.Path)
		return identity.Provider{Name: fmt.Sprintf("%s (%s)", s.Kind, s.Path), Users: list, Repositories: list}, nil
	case KindConfigMap:
		namespace, key := cmp.Or(s.Namespace, d.Namespace), cmp.Or(s.Key, "users.yaml")
		list := configMapList(d.Client, namespace, s.Name, key)
		return identity.Provider{
			Name: fmt.Sprintf("%s (%s/%s)", s.Kind, namespace, s.Name), Users: list,
			Repositories: list,
		}, nil
	case KindGitHub:
		return s.gitHub(d)
	case KindGit:
		return s.git(d), nil
	}
	return identity.Provider{}, fault.New(fault.InvalidArgument, "identity provider kind %q: must be one of %s", s.Kind,
		strings.Join(kinds(), ", "))
}

const publicAPI = "https://api.github.com/"

// gitHub takes the address of a server as people write it: GitHub Enterprise has its API under /api/v3.
func (s Settings) gitHub(d Dependencies) (identity.Provider, error) {
	address := publicAPI
	if s.URL != "" {
		address = strings.TrimRight(s.URL, "/") + "/"
	}
	base, err := url.Parse(address)
	if err != nil {
		return identity.Provider{}, fault.New(fault.InvalidArgument, "identity provider github: invalid url")
	}
	if base.Host == "github.com" {
		base.Host = "api.github.com"
	}
	if base.Path == "/" && !strings.HasPrefix(base.Host, "api.") {
		base.Path = "/api/v3/"
	}
	token := &credential.Source{Env: s.TokenEnv, File: s.TokenFile, Getenv: d.Getenv}
	// The usual variables hold a token for github.com: another server must not get it unless it is configured.
	if base.String() == publicAPI {
		token.Fallback = []string{"GITHUB_TOKEN", "GH_TOKEN"}
	}
	if s.CLI {
		token.Command = credential.GitHubCLI(strings.TrimPrefix(base.Hostname(), "api."))
	}
	provider, err := newGitHub(base, s.Organization, token)
	if err != nil {
		return identity.Provider{}, err
	}
	name := s.Kind
	if base.String() != publicAPI {
		name += " (" + base.Host + ")"
	}
	if s.Organization != "" {
		name += " (organization " + s.Organization + ")"
	}
	return identity.Provider{Name: name, Users: provider, Repositories: provider}, nil
}

func (s Settings) git(d Dependencies) identity.Provider {
	provider := &remotes{url: cmp.Or(s.URL, identity.DefaultRemote), ssh: git.SSHCommand(d.Getenv)}
	provider.credential = func(remote *url.URL) *credential.Source {
		source := &credential.Source{Username: s.Username, Env: s.TokenEnv, File: s.TokenFile, Getenv: d.Getenv}
		if s.CLI {
			source.Command = credential.GitHelper(remote, s.Username)
		}
		return source
	}
	name := s.Kind
	if u, err := git.ParseAddress(strings.NewReplacer("{owner}", "owner", "{name}", "name").
		Replace(provider.url)); err == nil && u.Host != "" {
		name += " (" + u.Host + ")"
	}
	return identity.Provider{Name: name, Repositories: provider}
}
