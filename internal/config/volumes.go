package config

// Volumes says where the drivers of scratch volumes let users read what their pods have left.
type Volumes struct {
	// ReadURL is where they are, with https: each address of its host is that of one of them.
	ReadURL string `yaml:"readURL"`
	// ReadCA is the file of the authorities of their certificate.
	ReadCA string `yaml:"readCA"`
	// Credential is what they are sent; that of the kubeconfig's current context unless it is said.
	Credential GatewayCredential `yaml:"credential"`
}

// checkVolumes finds what is wrong with that, and makes paths those of the file's directory.
func (c *Config) checkVolumes(dir string) (problems []string) {
	v := &c.Volumes
	if v.ReadURL == "" {
		if v.ReadCA != "" {
			problems = append(problems, "volumes.readCA: requires readURL")
		}
		return problems
	}
	if !isHTTPS(v.ReadURL) {
		problems = append(problems, "volumes.readURL: must be https://HOST[:PORT]")
	}
	if own := v.Credential; own.given() == 0 {
		v.Credential.Kubeconfig = true
	}
	problems = append(problems, v.Credential.check("volumes.credential")...)
	own := &v.Credential
	relativeTo(dir, &v.ReadCA, &own.TokenFile, &own.Certificate.Cert, &own.Certificate.Key)
	return problems
}
