// Package image takes references of container images apart.
package image

import "strings"

// Reference is an image as a pod names it.
type Reference struct {
	Name   string // with its registry and path, where it has them
	Tag    string // empty if it has none
	Digest string // algorithm:hex; empty if it has none
}

// Parse takes a reference apart. It does not validate it.
func Parse(text string) Reference {
	var r Reference
	r.Name, r.Digest, _ = strings.Cut(text, "@")
	if colon := strings.LastIndex(r.Name, ":"); colon > strings.LastIndex(r.Name, "/") {
		r.Name, r.Tag = r.Name[:colon], r.Name[colon+1:]
	}
	return r
}

// Short is the reference without registry and path: dev-tools:1.4. Of a digest,
// which counts if there is no tag, it has the beginning.
func (r Reference) Short() string {
	base := r.Name[strings.LastIndex(r.Name, "/")+1:]
	switch algorithm, _, _ := strings.Cut(r.Digest, ":"); {
	case r.Tag != "":
		return base + ":" + r.Tag
	case r.Digest != "":
		return base + "@" + algorithm + ":" + r.Hex(7)
	}
	return base
}

// Hex is the beginning of the digest, without its algorithm.
func (r Reference) Hex(most int) string {
	_, hex, _ := strings.Cut(r.Digest, ":")
	return hex[:min(most, len(hex))]
}
