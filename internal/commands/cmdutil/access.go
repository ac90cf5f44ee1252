package cmdutil

import (
	"cmp"

	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/registry"
)

// access reads the passwords that are configured.
func access(c config.Config, getenv func(string) string) (manifest.Access, error) {
	a := manifest.Access{Remote: c.Repositories.URL}
	if c.Registry != nil {
		password, err := c.Registry.Read(getenv)
		if err != nil {
			return a, err
		}
		a.Registry = &registry.Login{Server: c.Registry.Server, Username: c.Registry.Username, Password: password}
	}
	for _, r := range c.Repositories.Credentials {
		password, err := r.Read(getenv)
		if err != nil {
			return a, err
		}
		a.Repositories = append(a.Repositories, manifest.RepositoryAccess{URL: r.URL, Username: r.Username, Password: password})
	}
	return a, nil
}

func certificate(c config.Certificate) *manifest.Certificate {
	if !c.Enabled {
		return nil
	}
	return &manifest.Certificate{IssuerName: c.Issuer.Name, IssuerKind: cmp.Or(c.Issuer.Kind, "ClusterIssuer")}
}
