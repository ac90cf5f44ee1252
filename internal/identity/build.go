package identity

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
)

// Surroundings are what providers need to be made.
type Surroundings struct {
	Client kubernetes.Interface
	// Self is whom the caller's credentials speak of, see kube.Self.
	Self string
	// Namespace is the one to work in.
	Namespace string
	Getenv    func(string) string
}

// Build makes the chain that the settings say. It asks nobody anything yet.
func Build(settings Settings, s Surroundings) (Chain, error) {
	if len(settings.Providers) == 0 {
		settings = DefaultSettings()
	}
	var chain Chain
	for _, p := range settings.Providers {
		link, err := build(p, s)
		if err != nil {
			return nil, err
		}
		link.Timeout = DefaultTimeout
		if d, err := time.ParseDuration(p.Timeout); err == nil {
			link.Timeout = d
		}
		chain = append(chain, link)
	}
	return chain, nil
}

func build(p ProviderSettings, s Surroundings) (Link, error) {
	switch p.Kind {
	case KindKubernetes:
		return Link{Name: p.Kind, Provider: Kubernetes{Client: s.Client, StripPrefix: p.StripPrefix, Self: s.Self}}, nil
	case KindFile:
		return Link{Name: fmt.Sprintf("%s (%s)", p.Kind, p.Path), Provider: File(p.Path)}, nil
	case KindConfigMap:
		namespace, key := p.Namespace, p.Key
		if namespace == "" {
			namespace = s.Namespace
		}
		if key == "" {
			key = "users.yaml"
		}
		return Link{Name: fmt.Sprintf("%s (%s/%s)", p.Kind, namespace, p.Name), Provider: ConfigMap(s.Client, namespace, p.Name, key)}, nil
	case KindGitHub:
		return buildGitHub(p, s)
	case KindGit:
		return buildGit(p, s), nil
	}
	return Link{}, fault.New(fault.InvalidArgument, "identity provider kind %q is none of %s", p.Kind, strings.Join(kinds(), ", "))
}

const publicAPI = "https://api.github.com/"

// buildGitHub reads the address as people write it: that of GitHub Enterprise
// has its API under /api/v3.
func buildGitHub(p ProviderSettings, s Surroundings) (Link, error) {
	address := publicAPI
	if p.URL != "" {
		address = strings.TrimRight(p.URL, "/") + "/"
	}
	base, err := url.Parse(address)
	if err != nil {
		return Link{}, fault.New(fault.InvalidArgument, "identity provider github: url cannot be read")
	}
	if base.Host == "github.com" {
		base.Host = "api.github.com"
	}
	if base.Path == "/" && !strings.HasPrefix(base.Host, "api.") {
		base.Path = "/api/v3/"
	}
	source := &credential.Source{Env: p.TokenEnv, File: p.TokenFile, Getenv: s.Getenv}
	// The usual variables hold a token for github.com: another server must not
	// get it unless it is configured.
	if base.String() == publicAPI {
		source.Fallback = []string{"GITHUB_TOKEN", "GH_TOKEN"}
	}
	if p.CLI {
		source.Command = credential.GitHubCLI(strings.TrimPrefix(base.Hostname(), "api."))
	}
	provider, err := newGitHub(base, p.Organization, source)
	if err != nil {
		return Link{}, err
	}
	name := p.Kind
	if base.String() != publicAPI {
		name += " (" + base.Host + ")"
	}
	if p.Organization != "" {
		name += " (organization " + p.Organization + ")"
	}
	return Link{Name: name, Provider: provider}, nil
}

func buildGit(p ProviderSettings, s Surroundings) Link {
	remote := p.URL
	if remote == "" {
		remote = DefaultRemote
	}
	provider := &Git{remote: remote, ssh: git.SSHCommand(s.Getenv), source: func(remote *url.URL) *credential.Source {
		source := &credential.Source{Username: p.Username, Env: p.TokenEnv, File: p.TokenFile, Getenv: s.Getenv}
		if p.CLI {
			source.Command = credential.GitHelper(remote, p.Username)
		}
		return source
	}}
	name := p.Kind
	if u, err := url.Parse(strings.NewReplacer("{owner}", "", "{name}", "").Replace(remote)); err == nil && u.Host != "" {
		name += " (" + u.Host + ")"
	}
	return Link{Name: name, Provider: provider, NoUsers: true}
}
