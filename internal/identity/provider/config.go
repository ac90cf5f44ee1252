package provider

// The kinds of providers.
const (
	KindKubernetes = "kubernetes"
	KindFile       = "file"
	KindConfigMap  = "configmap"
	KindGitHub     = "github"
	KindGit        = "git"
)

func kinds() []string { return []string{KindKubernetes, KindFile, KindConfigMap, KindGitHub, KindGit} }

// Config is the providers that are asked, in this order.
type Config struct {
	Providers []Settings `yaml:"providers"`
}

// Settings configure one provider. Its kind says which fields it may have.
type Settings struct {
	Kind string `yaml:"kind"`
	// Timeout of one answer, such as 10s.
	Timeout string `yaml:"timeout"`
	// StripPrefix is removed from the caller's name (kubernetes).
	StripPrefix string `yaml:"stripPrefix"`
	// Path of the document (file).
	Path string `yaml:"path"`
	// Namespace, Name and Key are where the document is (configmap). The
	// namespace defaults to the current one, the key to users.yaml.
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	Key       string `yaml:"key"`
	// URL is the address of the API (github), or that of repositories, with
	// {owner} and {name} in it (git).
	URL string `yaml:"url"`
	// Organization limits users to its members (github).
	Organization string `yaml:"organization"`
	// Username goes with a token (git).
	Username string `yaml:"username"`
	// TokenEnv, TokenFile and CLI say where the token comes from: a variable, a
	// file, or the vendor's command line (`gh auth token`, `git credential fill`).
	TokenEnv  string `yaml:"tokenEnv"`
	TokenFile string `yaml:"tokenFile"`
	CLI       bool   `yaml:"cli"`
}

// defaultConfig applies if nothing is configured.
func defaultConfig() Config {
	return Config{Providers: []Settings{{Kind: KindKubernetes}, {Kind: KindGit}}}
}

// fields are what each kind of provider may have in addition to kind and timeout.
func fields() map[string][]string {
	return map[string][]string{
		KindKubernetes: {"stripPrefix"},
		KindFile:       {"path"},
		KindConfigMap:  {"namespace", "name", "key"},
		KindGitHub:     {"url", "organization", "tokenEnv", "tokenFile", "cli"},
		KindGit:        {"url", "username", "tokenEnv", "tokenFile", "cli"},
	}
}
