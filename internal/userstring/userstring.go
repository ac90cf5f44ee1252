// Package userstring is the grammar of user strings, their canonical key and
// the canonical ID that follows from it:
//
//	USERSTR = USER [ "~" SPEC ]
//	SPEC    = BLUEPRINT *( "+" KEY=VALUE ) | KEY=VALUE *( "+" KEY=VALUE )
//
// Everything here is a function of the string alone.
package userstring

import "strings"

// MaxLength is the maximum length of a user string without surrounding spaces, in
// characters.
const MaxLength = 128

// MaxCanonical is more than a canonical user string can have, in bytes: each character of one
// that was typed can have four, each of which is encoded as three, and all that may be wrapped
// in base64.
const MaxCanonical = 17 * MaxLength

// Form is one of the four forms of user strings.
type Form string

// The forms.
const (
	Implicit Form = "implicit" // alice
	Explicit Form = "explicit" // alice~dev
	Named    Form = "named"    // alice~pod=ws1
	Repo     Form = "repo"     // alice~repo=org/proj
)

// UserString is a parsed user string. Fields that were not given are empty.
type UserString struct {
	User      string // the whole name: lowered where it is typed as it is, and as it was where it is encoded
	Blueprint string // explicit form
	RepoOwner string // repository form; everything before the last slash
	RepoName  string
	Ref       string // lowered, as in the key
	RefTyped  string // as typed: git refs are case-sensitive
	OSUser    string
	Pod       string // named form
	Namespace string
	Workload  Workload
}

// Workload is a running workload that a workspace is injected into.
type Workload struct {
	Kind string // deployment, statefulset or daemonset
	Name string
}

// IsZero reports whether no workload was given.
func (w Workload) IsZero() bool { return w == Workload{} }

// String is KIND/NAME; empty for none.
func (w Workload) String() string {
	if w.IsZero() {
		return ""
	}
	return w.Kind + "/" + w.Name
}

// Form returns the form of u.
func (u UserString) Form() Form {
	switch {
	case u.Pod != "":
		return Named
	case u.RepoName != "":
		return Repo
	case u.Blueprint != "":
		return Explicit
	default:
		return Implicit
	}
}

// Repository is OWNER/NAME; empty for the other forms.
func (u UserString) Repository() string {
	if u.RepoName == "" {
		return ""
	}
	return u.RepoOwner + "/" + u.RepoName
}

// BlueprintName is the blueprint that u names, or the name computed from a
// repository; empty for the implicit and the named form.
func (u UserString) BlueprintName() string {
	if u.RepoName == "" {
		return u.Blueprint
	}
	return "repo-" + strings.ReplaceAll(u.RepoOwner, "/", "-") + "-" + u.RepoName
}

// String is the canonical user string, with keys sorted and values encoded. It has
// the same key.
func (u UserString) String() string {
	var spec []string
	add := func(key, value string) {
		if value != "" {
			spec = append(spec, key+"="+escape(value))
		}
	}
	if u.Blueprint != "" {
		spec = append(spec, escape(u.Blueprint))
	}
	add("ns", u.Namespace)
	add("pod", u.Pod)
	add("ref", u.RefTyped)
	add("repo", u.Repository())
	add("user", u.OSUser)
	add("workload", u.Workload.String())
	plain := escapeUser(u.User)
	if len(spec) > 0 {
		plain += "~" + strings.Join(spec, "+")
	}
	return wrapIfNeeded(plain)
}
