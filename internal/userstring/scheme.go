package userstring

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Scheme is how the canonical ID of a user string is computed.
type Scheme string

// The schemes. docs/design/k8shell.md says why the first one is the default.
const (
	Own     Scheme = ""        // as the specification says
	K8shell Scheme = "k8shell" // as k8shell's provisioner computes it
)

// In is the same user string in a scheme: its key, its ID and what it names are those of that scheme.
func (u UserString) In(s Scheme) UserString {
	u.Scheme = s
	if u.RepoName != "" {
		u.RepoOwner, u.RepoName = s.split(u.Repository())
	}
	u.Blueprint = cmp.Or(u.BlueprintTyped, u.Blueprint)
	if s != K8shell {
		u.Blueprint = strings.ToLower(u.Blueprint)
	}
	return u
}

// split is the owner and the name of a repository that may have several owners: all but the last part, or the first.
func (s Scheme) split(repository string) (owner, name string) {
	if s == K8shell {
		owner, name, _ = strings.Cut(repository, "/")
		return owner, name
	}
	owner, name = path.Split(repository)
	return strings.TrimSuffix(owner, "/"), name
}

// Other is the same user string in the other scheme; false if it has the same ID there.
func (u UserString) Other() (UserString, bool) {
	other := u.In(Own)
	if u.Scheme == Own {
		other = u.In(K8shell)
	}
	return other, other.ID() != u.ID()
}

// Names says whether an ID is that of the user string, in either scheme.
func (u UserString) Names(id string) bool { return u.Naming(id).ID() == id }

// Naming is the user string in the scheme in which it has an ID. If it has it in none, it is as it was.
func (u UserString) Naming(id string) UserString {
	if other, differs := u.Other(); differs && other.ID() == id {
		return other
	}
	return u
}

var legalID = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// CheckID returns an error for an ID that nothing on a cluster can be named. Only k8shell's scheme has these: it takes
// a username as it is.
func (u UserString) CheckID() error {
	id := u.ID()
	if u.Form() == Named || legalID.MatchString(id) && len(id) <= MaxIDLength {
		return nil
	}
	why := "it must begin with a letter, and have only lowercase letters, digits and dashes"
	if legalID.MatchString(id) {
		why = "it must have at most 50 characters"
	}
	return fault.New(fault.InvalidArgument,
		"%s has the ID %q in k8shell's scheme, which is not a valid name: %s", u, id, why).
		WithHint("choose another username, or leave out `compat: k8shell` in the configuration: berth's own IDs are " +
			"valid names whatever the user is called")
}

// Annotation is the user string as the annotation of an object has it. In k8shell's scheme it is the canonical user
// string of that: values are encoded as the parts of a path, and keys have another order.
func (u UserString) Annotation() string {
	if u.Scheme != K8shell {
		return ToAnnotation(u.String())
	}
	var spec []string
	add := func(key, value string) {
		if value != "" {
			spec = append(spec, key+"="+escapePath(value))
		}
	}
	if u.Blueprint != "" {
		spec = append(spec, escapePath(u.Blueprint))
	}
	add("pod", u.Pod)
	add("repo", u.Repository())
	add("ref", u.RefTyped)
	add("workload", u.Workload.String())
	add("ns", u.Namespace)
	add("user", u.OSUser)
	plain := escapeUser(u.User)
	if len(spec) > 0 {
		plain += "~" + strings.Join(spec, "+")
	}
	return ToAnnotation(wrapIfNeeded(plain))
}

// escapePath encodes a part of a path, and what separates the parts of a user string besides.
func escapePath(value string) string {
	return strings.NewReplacer("@", "%40", "~", "%7E", "+", "%2B", "=", "%3D").Replace(url.PathEscape(value))
}
