package manifest

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/secret"
	"github.com/berthdev/berth/internal/userstring"
)

// Repository is a git repository that a workspace has in it.
type Repository struct {
	// URL is where it is cloned from, over HTTPS.
	URL string
	// Ref is the branch, tag or commit as typed; its default branch if empty.
	Ref string
}

// keptIn is where the repository is in the pod if the home directory is in no storage: it outlives the container there.
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

// Check refuses an address with a password in it, which Helm's record and a ConfigMap would contain, and one that leads
// elsewhere than it seems to: what credentials are for is told by how it begins.
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

// Access are the credentials for what a workspace is made of and is not public.
type Access struct {
	// Registry is the private registry that images are pulled from; nil for none.
	Registry *registry.Login
	// Remote is where repositories are cloned from, with {owner} and {name} in it.
	// Without it they are where .k8shell.yaml is looked for by default.
	Remote string
	// Repositories are credentials for cloning, by the addresses they are for.
	Repositories []RepositoryAccess
}

// RepositoryAccess are the credentials for repositories at an address.
type RepositoryAccess struct {
	// URL is a host, such as https://github.com, or one with the begin of a path.
	URL      string
	Username string
	Password secret.Text
	// InWorkspace hands them to the workspace, for its git: whatever runs in there can read them.
	InWorkspace bool
}

// Clone is the repository that a user string names, if it names one.
func (a Access) Clone(u userstring.UserString) *Repository {
	if u.Form() != userstring.Repo {
		return nil
	}
	remote := cmp.Or(a.Remote, identity.DefaultRemote)
	return &Repository{
		URL: strings.NewReplacer("{owner}", u.RepoOwner, "{name}", u.RepoName).Replace(remote),
		Ref: u.RefTyped,
	}
}

// repository are the credentials for an address: the most specific ones of its
// very host. Nothing is ever sent to another one.
func (a Access) repository(address string) (best RepositoryAccess, ok bool) {
	for _, r := range a.Repositories {
		if covers(r.URL, address) && (!ok || len(r.URL) > len(best.URL)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// covers compares scheme and host as a whole and the path by its parts.
func covers(prefix, address string) bool {
	p, err := url.Parse(prefix)
	if err != nil {
		return false
	}
	a, err := url.Parse(address)
	if err != nil || p.Scheme != a.Scheme || !strings.EqualFold(p.Host, a.Host) {
		return false
	}
	begin := strings.TrimSuffix(p.Path, "/") + "/"
	return strings.HasPrefix(strings.TrimSuffix(a.Path, "/")+"/", begin)
}

// credentials are those that the repository is cloned with; not ok if there are none for it, or no repository. An
// injected workspace has none: the owner of the workspace is not the only reader of the workload's namespace.
func (s Spec) credentials() (r RepositoryAccess, ok bool) {
	if s.Repository == nil || s.Injected {
		return r, false
	}
	return s.Access.repository(s.Repository.URL)
}

// HandsOver says who in the workspace gets at credentials, as messages.
func (s Spec) HandsOver() (messages []string) {
	r, ok := s.credentials()
	if !ok {
		return nil
	}
	if r.InWorkspace {
		messages = append(messages, "the credentials of "+r.URL+
			" are in the workspace (inWorkspace): everything that runs there can read them, the "+
			"repository's own scripts too")
	}
	if what := privileged(s.Blueprint); what != "" {
		messages = append(messages, "the credentials of "+r.URL+
			" are within reach of everything that runs in the workspace, the repository's own code too: "+what+
			", which is the right to take over the node; use a blueprint without it for repositories that "+
			"you do not trust")
	}
	return messages
}

// GitSecret is the name of the Secret that a workspace's repository may be cloned with.
func GitSecret(id string) string { return kube.Name(id, "git") }
