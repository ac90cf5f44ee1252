package identity

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// The kinds of providers.
const (
	KindKubernetes = "kubernetes"
	KindFile       = "file"
	KindConfigMap  = "configmap"
	KindGitHub     = "github"
	KindGit        = "git"
)

// Settings say which providers are asked, in this order.
type Settings struct {
	Providers []ProviderSettings `yaml:"providers"`
}

// ProviderSettings are those of one provider. Which of them go together says its
// kind.
type ProviderSettings struct {
	Kind string `yaml:"kind"`
	// Timeout of one answer, such as 10s.
	Timeout string `yaml:"timeout"`
	// StripPrefix is left out of the caller's name (kubernetes).
	StripPrefix string `yaml:"stripPrefix"`
	// Path of the document (file).
	Path string `yaml:"path"`
	// Namespace, Name and Key are where the document is (configmap). The
	// namespace is the one to work in if it is not given, the key users.yaml.
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	Key       string `yaml:"key"`
	// URL is the address of the API (github), or that of repositories, with
	// {owner} and {name} in it (git).
	URL string `yaml:"url"`
	// Organization is the one whose members are users (github).
	Organization string `yaml:"organization"`
	// Username goes with a token (git).
	Username string `yaml:"username"`
	// TokenEnv, TokenFile and CLI say where the token comes from: a variable, a
	// file, or the vendor's command line (`gh auth token`, `git credential fill`).
	TokenEnv  string `yaml:"tokenEnv"`
	TokenFile string `yaml:"tokenFile"`
	CLI       bool   `yaml:"cli"`
}

// DefaultSettings are those if nothing is configured.
func DefaultSettings() Settings {
	return Settings{Providers: []ProviderSettings{{Kind: KindKubernetes}, {Kind: KindGit}}}
}

// fields are what each kind of provider has beside kind and timeout.
func fields() map[string][]string {
	return map[string][]string{
		KindKubernetes: {"stripPrefix"},
		KindFile:       {"path"},
		KindConfigMap:  {"namespace", "name", "key"},
		KindGitHub:     {"url", "organization", "tokenEnv", "tokenFile", "cli"},
		KindGit:        {"url", "username", "tokenEnv", "tokenFile", "cli"},
	}
}

func kinds() []string { return []string{KindKubernetes, KindFile, KindConfigMap, KindGitHub, KindGit} }

// CheckSettings finds what is wrong with settings as they are written, beyond
// their shape. Values are not repeated where a secret may stand in them.
func CheckSettings(s *yamldoc.Shape, settings *yaml.Node) {
	if settings == nil || yamldoc.IsNull(settings) || settings.Kind != yaml.MappingNode {
		return
	}
	list := yamldoc.Field(settings, "providers")
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		s.Say(settings, "identity.providers is a list of at least one provider; leave identity out for the usual ones")
		return
	}
	for _, node := range list.Content {
		node = yamldoc.Behind(node)
		var p ProviderSettings
		if node.Kind == yaml.MappingNode && yamldoc.Flat(node).Decode(&p) == nil {
			checkProvider(s, node, p)
		}
	}
}

func checkProvider(s *yamldoc.Shape, node *yaml.Node, p ProviderSettings) {
	allowed, known := fields()[p.Kind]
	if !known {
		s.Say(place(node, "kind"), "kind %q is none of %s", p.Kind, strings.Join(kinds(), ", "))
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if isElsewhere(key.Value) && !slices.Contains(allowed, key.Value) {
			s.Say(key, "%s does not go with kind %s", key.Value, p.Kind)
		}
	}
	if d, err := time.ParseDuration(p.Timeout); p.Timeout != "" && (err != nil || d <= 0) {
		s.Say(place(node, "timeout"), "timeout %q is no time such as 10s", p.Timeout)
	}
	switch {
	case p.Kind == KindFile && p.Path == "":
		s.Say(node, "kind file needs path")
	case p.Kind == KindConfigMap && p.Name == "":
		s.Say(node, "kind configmap needs name")
	}
	if count(p.TokenEnv != "", p.TokenFile != "", p.CLI) > 1 {
		s.Say(node, "only one of tokenEnv, tokenFile and cli can be given")
	}
	checkURL(s, place(node, "url"), p)
	checkLogin(s, node, p)
}

// checkLogin says that a token goes nowhere: only HTTP has a place for one.
func checkLogin(s *yamldoc.Shape, node *yaml.Node, p ProviderSettings) {
	scheme, _, _ := strings.Cut(p.URL, ":")
	if p.Kind != KindGit || p.URL == "" || scheme == "https" || scheme == "http" {
		return
	}
	for _, field := range []string{"username", "tokenEnv", "tokenFile", "cli"} {
		if yamldoc.Field(node, field) != nil {
			s.Say(place(node, field), "%s goes with an https address only; with ssh, the login is the user's own: an agent or a key", field)
		}
	}
}

// checkURL says what is wrong with an address, but not the address.
func checkURL(s *yamldoc.Shape, at *yaml.Node, p ProviderSettings) {
	if p.URL == "" {
		return
	}
	u, err := url.Parse(strings.NewReplacer("{owner}", "owner", "{name}", "name").Replace(p.URL))
	switch {
	case err != nil || u.Scheme == "":
		s.Say(at, "url is no address with a scheme, such as https://host/path")
	case hasPassword(u):
		s.Say(at, "url has a password in it: use tokenEnv, tokenFile or cli")
	case p.Kind == KindGitHub && u.Scheme != "https" && u.Scheme != "http":
		s.Say(at, "url of kind github begins with https://")
	case p.Kind == KindGit && !slices.Contains([]string{"https", "http", "ssh", "git", "file"}, u.Scheme):
		s.Say(at, "url of kind git begins with https, http, ssh, git or file, not %s", u.Scheme)
	case p.Kind == KindGit && !strings.Contains(p.URL, "{name}"):
		s.Say(at, "url of kind git needs {name}, and usually {owner}, in it")
	}
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || u.User != nil && strings.HasPrefix(u.Scheme, "http")
}

// isElsewhere is true of a field that some kind has. What no kind has, the
// shape has found.
func isElsewhere(field string) bool {
	for _, names := range fields() {
		if slices.Contains(names, field) {
			return true
		}
	}
	return false
}

func place(node *yaml.Node, field string) *yaml.Node {
	if at := yamldoc.Field(node, field); at != nil {
		return at
	}
	return node
}

func count(all ...bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}
