package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/secret"
	"github.com/berthdev/berth/internal/yamldoc"
)

// helmRepository is one that the caller has told helm about, with `helm repo add`.
type helmRepository struct {
	Name     string      `json:"name"`
	URL      string      `json:"url"`
	Username string      `json:"username"`
	Password secret.Text `json:"password"`
}

// The limits of the file that helm has them in.
const (
	maxRepositories = yamldoc.MaxFile
	maxValues       = 50_000
)

// RepositoryNamed is the URL of a repository that helm knows by a name. It is empty if helm knows none, and for a
// server, which reads nobody's configuration.
func (f Fetcher) RepositoryNamed(name string) (string, error) {
	_, known, err := f.helmRepositories()
	for _, r := range known {
		if r.Name == name {
			return r.URL, err
		}
	}
	return "", err
}

// helmRepositories are those that the caller's own helm knows, and the file that it has them in.
func (f Fetcher) helmRepositories() (file string, known []helmRepository, _ error) {
	if f.Getenv == nil {
		return "", nil, nil
	}
	file = registry.HelmFile(f.Getenv, "HELM_REPOSITORY_CONFIG", "repositories.yaml")
	text, err := readConfig(file)
	if err == nil && len(text) > 0 {
		var config struct {
			Repositories []helmRepository `json:"repositories"`
		}
		bounds := yamldoc.Limits{
			Bytes: maxRepositories, Marks: maxValues, Weight: 4 * maxRepositories, Depth: yamldoc.MaxDepth,
		}
		if found := yamldoc.Bomb(text, bounds); found != nil {
			err = errors.New(found.Message)
		} else if yaml.Unmarshal(text, &config) != nil {
			err = errors.New("it is not a list of repositories") // what the parser says may show a password
		}
		known = config.Repositories
	}
	if err != nil {
		return file, nil, fault.New(fault.InvalidArgument, "the repositories of helm in %s cannot be read: %w", file,
			err).
			WithHint("correct the file, or set HELM_REPOSITORY_CONFIG to another")
	}
	return file, known, nil
}

// readConfig reads a file of a configuration, but little more than it may have; without a file there is nothing.
func readConfig(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name) //nolint:gosec // the caller's own configuration
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, withoutPath(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRepositories+1))
	return text, withoutPath(err)
}

// withoutPath is an error of a file whose name is said already.
func withoutPath(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	return err
}

// webLogin is the login for what is at a URL: that of the Secret that the source names, or else one that goes along
// with what it depends on, or the one that the caller has given helm for the repository there.
func (f Fetcher) webLogin(ctx context.Context, address *url.URL, name string) (*credential.Source, error) {
	if name != "" {
		return f.login(ctx, address, name)
	}
	if found, err := f.lentLogin(ctx, address); found != nil || err != nil {
		return found, err
	}
	file, known, err := f.helmRepositories()
	if err != nil || encrypted(address, "") != nil {
		return nil, err
	}
	var best *helmRepository
	for i, r := range known {
		if r.Password != "" && isBelow(address, r.URL) && (best == nil || len(r.URL) > len(best.URL)) {
			best = &known[i]
		}
	}
	if best == nil {
		return nil, nil
	}
	return given(credential.Credential{Username: best.Username, Token: best.Password, From: "the file " + file}), nil
}

// given is the source of a login that is there.
func given(login credential.Credential) *credential.Source {
	return &credential.Source{Command: func(context.Context) (credential.Credential, error) { return login, nil }}
}

// isBelow is true for what is in a repository, by its URL.
func isBelow(address *url.URL, repository string) bool {
	at, err := url.Parse(repository)
	if err != nil || at.Host == "" || at.Scheme != address.Scheme || hostPort(at) != hostPort(address) {
		return false
	}
	dir := strings.TrimSuffix(path.Clean("/"+at.Path), "/")
	return strings.HasPrefix(path.Clean("/"+address.Path)+"/", dir+"/")
}
