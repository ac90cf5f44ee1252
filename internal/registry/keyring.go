package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/secret"
)

// Keyring are the logins of a Docker configuration. A nil one has none.
type Keyring struct {
	from  string // in messages
	auths map[string]auth
	// Programs that are asked for logins; a Secret never names any.
	helpers map[string]string // by host
	store   string            // for all others
	other   *Keyring          // where this one has no login
}

// auth is a login as Docker writes it.
type auth struct {
	Auth          string `json:"auth"`
	Username      string `json:"username"`
	Password      string `json:"password"`
	IdentityToken string `json:"identitytoken"`
}

const maxConfig = 4 << 20 // bytes

// DockerKeyring reads the configuration of the user's own Docker. Without one there are no logins.
func DockerKeyring(getenv func(string) string) (*Keyring, error) {
	dir := getenv("DOCKER_CONFIG")
	if home := getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".docker")
	}
	if dir == "" {
		return nil, nil
	}
	return keyringIn(filepath.Join(dir, "config.json"), "Docker", "DOCKER_CONFIG to the directory of another")
}

// HelmKeyring reads what `helm registry login` has written, as Docker does. Without that there are no logins.
func HelmKeyring(getenv func(string) string) (*Keyring, error) {
	return keyringIn(HelmFile(getenv, "HELM_REGISTRY_CONFIG", "registry/config.json"), "registry",
		"HELM_REGISTRY_CONFIG to another")
}

// HelmFile is a file of helm's configuration, which a variable may name; empty if there is no place for it.
func HelmFile(getenv func(string) string, variable, name string) string {
	if file := getenv(variable); file != "" {
		return file
	}
	dir, config, home := getenv("HELM_CONFIG_HOME"), getenv("XDG_CONFIG_HOME"), getenv("HOME")
	switch {
	case dir != "":
	case config != "":
		dir = filepath.Join(config, "helm")
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Preferences", "helm")
	default:
		dir = filepath.Join(home, ".config", "helm")
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// keyringIn reads a file as Docker writes it, which is the configuration of something. Without it there are no logins.
func keyringIn(file, of, another string) (*Keyring, error) {
	if file == "" {
		return nil, nil
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var text []byte
	if err == nil && info.Size() <= maxConfig {
		text, err = os.ReadFile(file) //nolint:gosec // the user's own configuration
	}
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the %s configuration cannot be read: %w", of, err)
	}
	var config struct {
		Auths       map[string]auth   `json:"auths"`
		CredHelpers map[string]string `json:"credHelpers"`
		CredsStore  string            `json:"credsStore"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s is not a %s configuration", file, of).
			WithHint("correct it, or set %s", another)
	}
	return &Keyring{
		from: "the file " + file, auths: config.Auths, helpers: config.CredHelpers,
		store: config.CredsStore,
	}, nil
}

// Or is a keyring with the logins of another for what it has none for.
func (k *Keyring) Or(other *Keyring) *Keyring {
	if k == nil {
		return other
	}
	both := *k
	both.other = other
	return &both
}

// IsPullSecret is true for the data of a Secret that SecretKeyring reads.
func IsPullSecret(data map[string][]byte) bool {
	return data[".dockerconfigjson"] != nil || data[".dockercfg"] != nil
}

// SecretKeyring reads the data of a pull Secret, which has the name in messages.
func SecretKeyring(data map[string][]byte, name string) (*Keyring, error) {
	k := &Keyring{from: name}
	var err error
	if text, ok := data[".dockerconfigjson"]; ok {
		var config struct {
			Auths map[string]auth `json:"auths"`
		}
		err = json.Unmarshal(text, &config)
		k.auths = config.Auths
	} else if text, ok := data[".dockercfg"]; ok {
		err = json.Unmarshal(text, &k.auths)
	} else {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s is not a pull secret", name).
			WithHint("create it with `kubectl create secret docker-registry`")
	}
	return k, nil
}

// Login is the login for a repository, host/path. That with the most of its path wins, and a host before a pattern. It
// is anonymous if there is none, and names what has none.
func (k *Keyring) Login(ctx context.Context, repository string) (credential.Credential, error) {
	if k == nil {
		return credential.Credential{}, nil
	}
	found, err := k.own(ctx, repository)
	if err != nil || !found.Anonymous() || k.other == nil {
		return found, err
	}
	return k.other.Login(ctx, repository)
}

// own is the login that the keyring itself has.
func (k *Keyring) own(ctx context.Context, repository string) (credential.Credential, error) {
	host, name, _ := strings.Cut(repository, "/")
	host = canonicalHost(host)
	if helper := k.helpers[host]; helper != "" {
		return credential.DockerHelper(helper, host)(ctx)
	}
	best, bestRank := "", 0
	for key := range k.auths {
		rank := matches(key, host, name)
		if k.auths[key] != (auth{}) && (rank > bestRank || rank == bestRank && rank > 0 && key < best) {
			best, bestRank = key, rank
		}
	}
	switch {
	case bestRank > 0:
		return k.auths[best].credential(k.from, best)
	case k.store != "":
		if host == DefaultHost {
			host = dockerHub
		}
		return credential.DockerHelper(k.store, host)(ctx)
	}
	return credential.Credential{From: k.from}, nil
}

// credential decodes a login.
func (a auth) credential(from, key string) (credential.Credential, error) {
	c := credential.Credential{Username: a.Username, Token: secret.Text(a.Password), From: from}
	if a.Auth != "" {
		text, err := base64.StdEncoding.DecodeString(a.Auth)
		username, password, ok := strings.Cut(strings.TrimRight(string(text), "\x00"), ":")
		if err != nil || !ok {
			return c, fault.New(fault.InvalidArgument, "the login for %s in %s is not valid", key, from).
				WithHint("log in again, or create the secret again")
		}
		c.Username, c.Token = username, secret.Text(password)
	}
	if a.IdentityToken != "" {
		c.Username, c.Token = credential.DockerToken, secret.Text(a.IdentityToken)
	}
	return c, nil
}

// matches ranks a key of a configuration for a repository; 0 is no match. A key is a host, also as a URL, with the
// beginning of a path or not; as in Kubernetes, the parts of the host can be patterns.
func matches(key, host, name string) int {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	keyHost, keyPath, _ := strings.Cut(key, "/")
	keyPath = strings.Trim(keyPath, "/")
	for _, version := range []string{"v1", "v2"} { // of the API, not of the repository
		if keyPath == version {
			keyPath = ""
		}
		keyPath = strings.TrimPrefix(keyPath, version+"/")
	}
	if keyPath != "" && keyPath != name && !strings.HasPrefix(name, keyPath+"/") {
		return 0
	}
	rank := 2 * (1 + len(keyPath))
	keyHost = canonicalHost(keyHost)
	if keyHost == host {
		return rank + 1
	}
	if !strings.Contains(keyHost, "*") || strings.Count(keyHost, ".") != strings.Count(host, ".") {
		return 0
	}
	// Each part on its own: dots are what path.Match takes slashes for.
	dots := strings.NewReplacer(".", "/")
	if ok, err := path.Match(dots.Replace(keyHost), dots.Replace(host)); !ok || err != nil {
		return 0
	}
	return rank
}

// canonicalHost is the one name of Docker Hub, which has several.
func canonicalHost(host string) string {
	switch host = strings.ToLower(host); host {
	case "index.docker.io", "registry-1.docker.io":
		return DefaultHost
	}
	return host
}
