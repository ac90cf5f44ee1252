package config

import (
	"fmt"
	"net/url"
	"slices"
)

// Gateway is one that commands can go through, and the one credential that it is sent.
type Gateway struct {
	// Name is what --gateway chooses it by.
	Name string `yaml:"name"`
	// URL is where it is, with https.
	URL string `yaml:"url"`
	// CA is the file of the authorities of its certificate.
	CA string `yaml:"ca"`
	// Namespace is that of the workspaces, unless another one is named.
	Namespace  string            `yaml:"namespace"`
	Credential GatewayCredential `yaml:"credential"`
}

// GatewayCredential says where a credential comes from: exactly one of these.
type GatewayCredential struct {
	TokenFile string `yaml:"tokenFile"`
	// Command prints a token. It is run without a shell.
	Command     []string           `yaml:"command"`
	Certificate GatewayCertificate `yaml:"certificate"`
	// Kubeconfig sends the credentials of the kubeconfig's current context.
	Kubeconfig bool `yaml:"kubeconfig"`
}

// GatewayCertificate are the files of a client's certificate.
type GatewayCertificate struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// Gateway is the gateway of a name.
func (c Config) Gateway(name string) (g Gateway, found bool) {
	i := slices.IndexFunc(c.Gateways, func(g Gateway) bool { return g.Name == name })
	if i < 0 {
		return g, false
	}
	return c.Gateways[i], true
}

// checkGateways finds what is wrong with the gateways, and makes paths those of the file's directory.
func (c *Config) checkGateways(dir string) (problems []string) {
	names := map[string]bool{}
	for i := range c.Gateways {
		g := &c.Gateways[i]
		field := fmt.Sprintf("gateways[%d]", i)
		switch {
		case g.Name == "":
			problems = append(problems, field+".name: required")
		case names[g.Name]:
			problems = append(problems, fmt.Sprintf("%s.name: duplicate name %q", field, g.Name))
		}
		names[g.Name] = true
		if !isHTTPS(g.URL) {
			problems = append(problems, field+".url: must be https://HOST[:PORT]")
		}
		problems = append(problems, g.Credential.check(field+".credential")...)
		own := &g.Credential
		relativeTo(dir, &g.CA, &own.TokenFile, &own.Certificate.Cert, &own.Certificate.Key)
	}
	return problems
}

// isHTTPS says whether a text is https://HOST[:PORT], with a path perhaps.
func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// given is how many credentials are.
func (c GatewayCredential) given() (given int) {
	for _, is := range []bool{
		c.TokenFile != "", len(c.Command) > 0, c.Certificate != GatewayCertificate{},
		c.Kubeconfig,
	} {
		if is {
			given++
		}
	}
	return given
}

func (c GatewayCredential) check(field string) (problems []string) {
	if c.given() != 1 {
		problems = append(problems, field+": requires exactly one of tokenFile, command, certificate and kubeconfig")
	}
	if (c.Certificate.Cert == "") != (c.Certificate.Key == "") {
		problems = append(problems, field+".certificate: requires cert and key")
	}
	return problems
}
