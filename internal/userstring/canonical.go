package userstring

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
)

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
	add("ns", u.Namespace)
	return strings.Join(key, "|")
}

// ID is the canonical ID: the name of the pod, the Service, the release and
// everything else. It is a DNS-1035 label, as a Service requires.
func (u UserString) ID() string {
	if u.Form() == Named {
		return u.Pod
	}
	sum := sha256.Sum256([]byte(u.Key()))
	return prefix(u.User) + "-" + hex.EncodeToString(sum[:])[:hashLength]
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
