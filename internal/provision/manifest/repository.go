package manifest

import (
	"net/url"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Repository is a git repository that a workspace has in it.
type Repository struct {
	// URL is where it is cloned from, over HTTPS.
	URL string
	// Ref is the branch, tag or commit as typed; its default branch if empty.
	Ref string
}

// keptIn is where the repository is in the pod if the home directory is in no
// storage: it outlives the container there.
const keptIn = "/k8shell/repository/kept"

// repository is the chart's value; nil for none.
func repository(s Spec) any {
	r := s.Repository
	if r == nil {
		return nil
	}
	kept := ""
	if _, storage := s.Blueprint.Home(); storage == "" {
		kept = keptIn
	}
	credentials, _ := s.credentials()
	return map[string]any{
		"url": r.URL, "ref": r.Ref, "name": r.name(), "kept": kept,
		"apart": !s.Injected, "inWorkspace": credentials.InWorkspace,
	}
}

// name is the name of its directory: the last part of the address.
func (r *Repository) name() string {
	address := strings.TrimSuffix(r.URL, "/")
	return strings.TrimSuffix(address[strings.LastIndex(address, "/")+1:], ".git")
}

// Check refuses an address with a password in it, which Helm's record and a
// ConfigMap would contain, and one that leads elsewhere than it seems to: what
// credentials are for is told by how it begins.
func (r *Repository) Check() error {
	if r == nil {
		return nil
	}
	u, err := url.Parse(r.URL)
	if err == nil && u.User != nil {
		return fault.New(fault.InvalidArgument, "the repository's address has credentials in it: %s", u.Redacted()).
			WithHint("put them into the configuration under repositories.credentials")
	}
	dots := func(part string) bool { return part == "." || part == ".." }
	if err != nil || r.name() == "" || dots(r.name()) || slices.ContainsFunc(strings.Split(u.Path, "/"), dots) {
		return fault.New(fault.InvalidArgument, "invalid repository address %q", r.URL).
			WithHint("correct the repository in the user string, or repositories.url in the configuration")
	}
	return nil
}
