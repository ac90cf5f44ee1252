package git

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/berthdev/berth/internal/fault"
)

// Ref is a commit: exactly one of its fields is set.
type Ref struct{ Branch, Tag, Commit string }

func (r Ref) String() string { return r.Branch + r.Tag + r.Commit }

// FetchRef gets a commit as Fetch does, of a branch and of nothing else that is named like it, or of a tag.
func (r Remote) FetchRef(ctx context.Context, ref Ref) (*Snapshot, error) {
	watched, stop := r.watched(ctx)
	defer stop()
	s, err := r.fetch(watched, func(advertised *packp.AdvRefs) (string, plumbing.Hash, error) {
		hash, ok := ref.find(advertised)
		if !ok {
			return "", hash, r.noRef(advertised, ref)
		}
		return ref.String(), hash, nil
	})
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() == nil && watched.Err() == nil && isMissingCommit(err) && ref.Commit != "":
		return nil, fault.New(fault.NotFound, "repository %s has no commit %q, or does not send it", r, ref.Commit).
			WithHint("check the hash; some remotes send only what a branch or a tag is at: name one of these")
	}
	return nil, r.explain(ctx, watched, err, ref.String())
}

const (
	branches = "refs/heads/"
	tags     = "refs/tags/"
)

func (r Ref) find(advertised *packp.AdvRefs) (hash plumbing.Hash, ok bool) {
	switch {
	case r.Branch != "":
		hash, ok = advertised.References[branches+r.Branch]
	case r.Tag != "":
		hash, ok = advertised.References[tags+r.Tag]
	case plumbing.IsHash(r.Commit):
		hash = plumbing.NewHash(r.Commit)
		for name, peeled := range advertised.Peeled {
			if peeled == hash {
				return advertised.References[name], true // the tag is what a remote sends
			}
		}
		return hash, true
	default:
		return findCommit(advertised, strings.ToLower(r.Commit))
	}
	return hash, ok
}

const maxListed = 5

// noRef is the error of a ref that the remote does not have, and says which it has.
func (r Remote) noRef(advertised *packp.AdvRefs, ref Ref) error {
	if ref.Commit != "" {
		return fault.New(fault.NotFound, "repository %s has no commit %q", r, ref.Commit).
			WithHint("write the whole hash, with 40 digits")
	}
	kind, prefix := "branch", branches
	if ref.Tag != "" {
		kind, prefix = "tag", tags
	}
	var names []string
	for name := range advertised.References {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, short)
		}
	}
	slices.Sort(names)
	err := fault.New(fault.NotFound, "repository %s has no %s %q", r, kind, ref)
	switch more := len(names) - maxListed; {
	case len(names) == 0:
		return err.WithHint("it has no %s at all", kind)
	case more > 0:
		return err.WithHint("it has %s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return err.WithHint("it has %s", strings.Join(names, ", "))
}

// findRef returns the first of refs that the remote has. As in git, a full hash is always a commit; otherwise a branch
// wins over a tag, and both over the beginning of a hash.
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
