package config

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/secret"
)

// Registry is a private image registry.
type Registry struct {
	// Server is its host, with its port if it has one.
	Server      string `yaml:"server"`
	Credentials `yaml:",inline"`
}

// Repositories says how git repositories are reached.
type Repositories struct {
	// URL is where they are cloned from, with {owner} and {name} in it.
	URL string `yaml:"url"`
	// Credentials are for cloning, each for an address.
	Credentials []RepositoryCredentials `yaml:"credentials"`
}

// RepositoryCredentials are for the repositories at an address.
type RepositoryCredentials struct {
	// URL is a host, such as https://github.com, or one with the begin of a path.
	URL         string `yaml:"url"`
	Credentials `yaml:",inline"`
	// InWorkspace hands the credentials to the workspaces of repositories there, to push with. Everything that runs in
	// such a workspace can read them.
	InWorkspace bool `yaml:"inWorkspace"`
}

// Certificate says whether workspaces get certificates of cert-manager.
type Certificate struct {
	Enabled bool   `yaml:"enabled"`
	Issuer  Issuer `yaml:"issuer"`
}

// Issuer is who issues the certificates.
type Issuer struct {
	Name string `yaml:"name"`
	// Kind is Issuer or ClusterIssuer, which it is if not given.
	Kind string `yaml:"kind"`
}

// Credentials are a username and a password, which is here, in a file or in a variable. The latter two are read only
// when they are needed.
type Credentials struct {
	Username     string      `yaml:"username"`
	Password     secret.Text `yaml:"password"`
	PasswordFile string      `yaml:"passwordFile"`
	PasswordEnv  string      `yaml:"passwordEnv"`
}

// Read gives the password, wherever it is kept.
func (c Credentials) Read(getenv func(string) string) (secret.Text, error) {
	password := string(c.Password)
	switch {
	case c.PasswordFile != "":
		text, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return "", fault.New(fault.InvalidArgument, "configuration: passwordFile of %s: %w", c.Username, err)
		}
		password = strings.TrimRight(string(text), "\r\n")
	case c.PasswordEnv != "":
		password = getenv(c.PasswordEnv)
	}
	if password == "" {
		return "", fault.New(fault.InvalidArgument, "configuration: the password of %s is empty", c.Username).
			WithHint("set %s", c.source())
	}
	return secret.Text(password), nil
}

// source names where the password is written.
func (c Credentials) source() string {
	switch {
	case c.PasswordFile != "":
		return "the content of " + c.PasswordFile
	case c.PasswordEnv != "":
		return "the variable " + c.PasswordEnv
	default:
		return "password, passwordFile or passwordEnv"
	}
}

// check finds what is wrong with where repositories are, and with the logins.
func (r *Repositories) check(dir string) (problems []string) {
	if u, err := url.Parse(strings.NewReplacer("{owner}", "o", "{name}", "n").Replace(r.URL)); r.URL != "" &&
		(err != nil || u.Scheme == "" || u.User != nil || !strings.Contains(r.URL, "{name}")) {
		problems = append(problems, "repositories.url: must be an address with {name} and without "+
			"credentials, such as "+
			identity.DefaultRemote)
	}
	for i := range r.Credentials {
		login := &r.Credentials[i]
		field := fmt.Sprintf("repositories.credentials[%d]", i)
		if u, err := url.Parse(login.URL); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
			u.User != nil {
			problems = append(problems, field+".url: must be an address without credentials, such as "+
				"https://github.com")
		}
		problems = append(problems, login.check(field, dir)...)
	}
	return problems
}

// checkAccess finds what is wrong with what is configured for registries, repositories and certificates, and makes
// paths those of the file's directory.
func (c *Config) checkAccess(dir string) (problems []string) {
	if c.Registry != nil {
		if c.Registry.Server == "" || strings.ContainsAny(c.Registry.Server, "/ ") {
			problems = append(problems, fmt.Sprintf("registry.server: invalid hostname %q", c.Registry.Server))
		}
		problems = append(problems, c.Registry.check("registry", dir)...)
	}
	problems = append(problems, c.Repositories.check(dir)...)
	if kind := c.Certificate.Issuer.Kind; kind != "" && kind != "Issuer" && kind != "ClusterIssuer" {
		problems = append(problems, fmt.Sprintf("certificate.issuer.kind: %q: must be one of Issuer, ClusterIssuer",
			kind))
	}
	if c.Certificate.Enabled && c.Certificate.Issuer.Name == "" {
		problems = append(problems, "certificate.issuer.name: required")
	}
	return problems
}

func (c *Credentials) check(field, dir string) (problems []string) {
	if c.Username == "" {
		problems = append(problems, field+".username: required")
	}
	given := 0
	for _, source := range []string{string(c.Password), c.PasswordFile, c.PasswordEnv} {
		if source != "" {
			given++
		}
	}
	if given != 1 {
		problems = append(problems, field+": requires exactly one of password, passwordFile and passwordEnv")
	}
	if c.PasswordFile != "" && !isRooted(c.PasswordFile) {
		c.PasswordFile = filepath.Join(dir, c.PasswordFile)
	}
	return problems
}
