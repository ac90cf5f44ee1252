package git

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// findRef returns the first of refs that the remote has. As in git, a full hash is
// always a commit; otherwise a branch wins over a tag, and both over the beginning
// of a hash.
func findRef(advertised *packp.AdvRefs, refs []string) (ref string, hash plumbing.Hash, ok bool) {
	for _, ref := range refs {
		if ref == "" {
			if advertised.Head != nil {
				return "", *advertised.Head, true
			}
			continue
		}
		if plumbing.IsHash(ref) {
			return ref, plumbing.NewHash(ref), true
		}
		for _, name := range []string{"refs/heads/" + ref, "refs/tags/" + ref, ref} {
			if hash, ok := advertised.References[name]; ok {
				return ref, hash, true
			}
		}
		if hash, ok := findCommit(advertised, strings.ToLower(ref)); ok {
			return ref, hash, true
		}
	}
	return "", plumbing.ZeroHash, false
}

const minHashPrefix = 7

// findCommit expands the beginning of a hash to the head of a branch or tag.
func findCommit(advertised *packp.AdvRefs, text string) (plumbing.Hash, bool) {
	if len(text) < minHashPrefix || strings.Trim(text, "0123456789abcdef") != "" {
		return plumbing.ZeroHash, false
	}
	for name, hash := range advertised.Peeled {
		if strings.HasPrefix(hash.String(), text) {
			return advertised.References[name], true // the tag is what a remote sends
		}
	}
	for _, hash := range advertised.References {
		if strings.HasPrefix(hash.String(), text) {
			return hash, true
		}
	}
	return plumbing.ZeroHash, false
}
