package provider

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/git"
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
	// URL is the address of the API (github), or that of repositories, with {owner} and {name} in it (git).
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

// CheckConfig reports what is wrong with a Config as it is written, beyond the
// types. Values that may hold a secret are not repeated.
func CheckConfig(s *yamldoc.Checker, config *yaml.Node) {
	if config == nil || config.Kind != yaml.MappingNode {
		return
	}
	list := yamldoc.Field(config, "providers")
	if list != nil && s.Reported(list) {
		return
	}
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		s.Problemf(config, "identity.providers must list at least one provider; leave identity out for "+
			"the default ones")
		return
	}
	for _, node := range list.Content {
		node = yamldoc.Resolve(node)
		var p Settings
		if node.Kind == yaml.MappingNode && yamldoc.Expand(node).Decode(&p) == nil {
			p.check(s, node)
		}
	}
}

func (p Settings) check(s *yamldoc.Checker, node *yaml.Node) {
	allowed, known := fields()[p.Kind]
	if !known {
		s.Problemf(place(node, "kind"), "kind %q: must be one of %s", p.Kind, strings.Join(kinds(), ", "))
		return
	}
	allowed = append([]string{"kind", "timeout"}, allowed...)
	fields := yamldoc.Fields(reflect.TypeFor[Settings]())
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if fields[key.Value] != nil && !slices.Contains(allowed, key.Value) {
			s.Problemf(key, "%s is not allowed with kind %s", key.Value, p.Kind)
		}
	}
	if d, err := time.ParseDuration(p.Timeout); p.Timeout != "" && (err != nil || d <= 0 || d > maxTimeout) {
		s.Problemf(place(node, "timeout"), "invalid timeout %q: use a duration such as 10s, of at most %s", p.Timeout,
			maxTimeout)
	}
	switch {
	case strings.HasPrefix(p.StripPrefix, unprefixed):
		s.Problemf(place(node, "stripPrefix"),
			"stripPrefix %q must not begin with a colon, which tells callers without the prefix apart", p.StripPrefix)
	case p.Kind == KindFile && p.Path == "":
		s.Problemf(node, "kind file requires path")
	case p.Kind == KindConfigMap && p.Name == "":
		s.Problemf(node, "kind configmap requires name")
	}
	sources := slices.DeleteFunc([]bool{p.TokenEnv != "", p.TokenFile != "", p.CLI},
		func(given bool) bool { return !given })
	if len(sources) > 1 {
		s.Problemf(node, "tokenEnv, tokenFile and cli are mutually exclusive")
	}
	p.checkURL(s, place(node, "url"))
	p.checkLogin(s, node)
}

// checkLogin rejects a token that would not be sent: only HTTP has a place for one.
func (p Settings) checkLogin(s *yamldoc.Checker, node *yaml.Node) {
	scheme, _, _ := strings.Cut(p.URL, ":")
	if p.Kind != KindGit || p.URL == "" || scheme == "https" || scheme == "http" {
		return
	}
	for _, field := range []string{"username", "tokenEnv", "tokenFile", "cli"} {
		if yamldoc.Field(node, field) != nil {
			s.Problemf(place(node, field),
				"%s requires an https url; over ssh, the login is an agent's or a key of your SSH client", field)
		}
	}
}

// checkURL does not repeat the URL.
func (p Settings) checkURL(s *yamldoc.Checker, at *yaml.Node) {
	if p.URL == "" {
		return
	}
	parse := url.Parse
	if p.Kind == KindGit {
		parse = git.ParseAddress
	}
	u, err := parse(strings.NewReplacer("{owner}", "owner", "{name}", "name").Replace(p.URL))
	switch {
	case err != nil || u.Scheme == "":
		s.Problemf(at, "invalid url: use an address such as https://host/path")
	case hasPassword(u):
		s.Problemf(at, "url must not hold a login: use tokenEnv, tokenFile or cli")
	case p.Kind == KindGitHub && u.Scheme != "https" && u.Scheme != "http":
		s.Problemf(at, "url of kind github must begin with https://")
	case p.Kind == KindGit && !slices.Contains([]string{"https", "http", "ssh", "git", "file"}, u.Scheme):
		s.Problemf(at, "url of kind git: scheme %s: must be one of https, http, ssh, git, file", u.Scheme)
	case p.Kind == KindGit && !strings.Contains(p.URL, "{name}"):
		s.Problemf(at, "url of kind git must contain {name}, and usually {owner}")
	}
}

// hasPassword takes a username for one, too, as a token can be in its place.
func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || u.User != nil && strings.HasPrefix(u.Scheme, "http")
}

// place is the value of a field, or the mapping if it has no such field.
func place(node *yaml.Node, field string) *yaml.Node {
	if at := yamldoc.Field(node, field); at != nil {
		return at
	}
	return node
}

// maxTimeout bounds how long a provider may be waited for.
const maxTimeout = time.Hour
