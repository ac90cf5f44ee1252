// Package userstring is the grammar of user strings, their canonical key and the canonical ID that follows from it:
//
//	USERSTR = USER [ "~" SPEC ]
//	SPEC    = BLUEPRINT *( "+" KEY=VALUE ) | KEY=VALUE *( "+" KEY=VALUE )
//
// Everything here is a function of the string alone.
package userstring

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
)

// MaxLength is the maximum length of a user string without surrounding spaces, in characters.
const MaxLength = 128

// MaxCanonical is more than a canonical user string can have, in bytes: each character of one that was typed can have
// four, each of which is encoded as three, and all that may be wrapped in base64.
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
	Scheme    Scheme // how the ID is computed; everything that Parse returns is in berth's own
	User      string // the whole name: lowered where it is typed as it is, and as it was where it is encoded
	Blueprint string // explicit form
	RepoOwner string // repository form; everything before the last slash, in k8shell's scheme before the first
	RepoName  string
	Ref       string // lowered, as in the key
	RefTyped  string // as typed: git refs are case-sensitive
	OSUser    string
	Pod       string // named form
	Namespace string
	Workload  Workload
	// BlueprintTyped is the blueprint as typed: k8shell's scheme keeps the case of its letters.
	BlueprintTyped string
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

// String is the canonical user string, with keys sorted and values encoded. It has the same key.
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

// MaxIDLength is the maximum length of a canonical ID: names made from it, such as
// those of injected containers, must not exceed 63 characters.
const MaxIDLength = 50

const hashLength = 7

// Key is the canonical key: user strings with the same key are the same
// workspace. The OS user is not part of it. A named workspace has no key.
func (u UserString) Key() string {
	if u.Form() == Named {
		return ""
	}
	key := []string{"u=" + strings.NewReplacer("%", "%25", "|", "%7C").Replace(u.User)} // it stays in one part
	add := func(name, value string) {
		if value != "" {
			key = append(key, name+"="+value)
		}
	}
	add("r", u.Repository())
	add("ref", u.Ref)
	add("bp", u.BlueprintName())
	add("workload", u.Workload.String())
	if u.Scheme != K8shell { // to which a workload of that name is the same in all namespaces
		add("ns", u.Namespace)
	}
	return strings.Join(key, "|")
}

// ID is the canonical ID: the name of the pod, the Service, the release and
// everything else. It is a DNS-1035 label, as a Service requires; in k8shell's
// scheme it may be none, as CheckID says.
func (u UserString) ID() string {
	if u.Form() == Named {
		return u.Pod
	}
	sum := sha256.Sum256([]byte(u.Key()))
	name := u.User
	if u.Scheme != K8shell {
		name = prefix(u.User)
	}
	return name + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// LooksLikeID reports whether a name can be the ID of a workspace. It may be a user's, too,
// and that of something else entirely.
func LooksLikeID(name string) bool { return shapeOfID.MatchString(name) }

var shapeOfID = regexp.MustCompile(`^[a-z][-a-z0-9]*-[0-9a-f]{7}$`)

// wrapIfNeeded wraps a user string whose username begins like a wrapped one.
func wrapIfNeeded(plain string) string {
	for _, prefix := range wrappers() {
		if strings.HasPrefix(plain, prefix) {
			return prefix + base64.RawURLEncoding.EncodeToString([]byte(plain))
		}
	}
	return plain
}

// escape percent-encodes the characters that a value must not contain.
func escape(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		if strings.IndexByte("@~+=%", c) < 0 && c > ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			b.WriteString(percent(string([]byte{c})))
		}
	}
	return b.String()
}

// ToAnnotation is a user string as the annotation of an object has it: in unpadded base64url, as k8shell writes it.
func ToAnnotation(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// FromAnnotation is the user string in the annotation of a pod, which is in base64 of either alphabet, padded or not;
// empty if it cannot be one: others can write the annotation, too.
func FromAnnotation(value string) string {
	if len(value) > base64.StdEncoding.EncodedLen(MaxCanonical) {
		return ""
	}
	value = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(value, "="))
	text, err := base64.RawURLEncoding.DecodeString(value)
	isOdd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if err != nil || len(text) > MaxCanonical || strings.ContainsFunc(string(text), isOdd) {
		return ""
	}
	return string(text)
}
