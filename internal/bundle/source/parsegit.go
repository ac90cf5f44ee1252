package source

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/pattern"
)

// git reads the address of a repository, which may end in a directory and name a ref.
func (p *parser) git(text string, flags Flags) *v1alpha1.Source {
	scheme, _, _ := strings.Cut(text, "://")
	switch scheme {
	case "https", "http", "ssh":
	case "git":
		p.wrong("SOURCE has the scheme %q, not https or ssh", scheme)
		return nil
	default:
		p.wrong("SOURCE has the unknown scheme %q: git is read over https, ssh and http", "git+"+scheme)
		return nil
	}
	address := p.url(text, scheme == "ssh")
	if address == nil {
		return nil
	}
	repository, directory, _ := strings.Cut(strings.TrimPrefix(address.Path, "/"), "//")
	address.Path, address.RawPath = "/"+repository, ""
	if strings.Trim(repository, "/") == "" {
		p.wrong("SOURCE has no repository")
	}
	if address.Fragment != "" {
		p.wrong("SOURCE has a part after #: a ref is chosen with ?ref=")
	}
	ref := p.ref(address.Query(), flags)
	if flags.Directory != "" && directory != "" {
		p.wrong("the directory is given twice, as --directory and in SOURCE")
	}
	directory = strings.Trim(cmp.Or(directory, flags.Directory), "/")
	if !isInside(cmp.Or(directory, ".")) {
		p.wrong("directory %q is not in the repository", directory)
	}
	address.RawQuery, address.Fragment, address.RawFragment, address.ForceQuery = "", "", "", false
	return &v1alpha1.Source{
		Type: v1alpha1.SourceGit,
		Git:  &v1alpha1.GitSource{Repository: address.String(), Directory: directory, Ref: ref},
	}
}

// ref is the one that is named, by a flag or in the address.
func (p *parser) ref(query url.Values, flags Flags) v1alpha1.GitRef {
	var found []v1alpha1.GitRef
	add := func(branch, tag, commit string) {
		if branch+tag+commit != "" {
			found = append(found, v1alpha1.GitRef{Branch: branch, Tag: tag, Commit: commit})
		}
	}
	add(flags.Branch, "", "")
	add("", flags.Tag, "")
	add("", "", flags.Commit)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			switch name {
			case "branch":
				add(value, "", "")
			case "tag":
				add("", value, "")
			case "commit":
				add("", "", value)
			case "ref":
				found = append(found, guess(value))
			}
		}
		if !slices.Contains([]string{"branch", "tag", "commit", "ref"}, name) {
			p.wrong("SOURCE has the unknown parameter %q: a ref is chosen with ref, branch, tag or commit", name)
		}
	}
	switch {
	case len(found) == 0:
		p.wrong("SOURCE names no commit: add --branch, --tag or --commit")
		return v1alpha1.GitRef{}
	case len(found) > 1:
		p.wrong("SOURCE names more than one of branch, tag and commit")
	}
	ref := found[0]
	switch {
	case ref.Commit != "" && !hash.MatchString(ref.Commit):
		p.wrong("commit %q is not a full hash of 40 hexadecimal digits", ref.Commit)
	case ref.Branch+ref.Tag != "" && !isRefName(ref.Branch+ref.Tag), ref == v1alpha1.GitRef{}:
		p.wrong("%q is not a name that a branch or a tag can have", ref.Branch+ref.Tag)
	}
	return ref
}

const (
	hash    pattern.Expr = `^[0-9a-f]{40}([0-9a-f]{24})?$`
	version pattern.Expr = `^v?[0-9]+(\.[0-9]+)*([-+].*)?$`
)

// guess takes a ref for what it looks like.
func guess(ref string) v1alpha1.GitRef {
	switch {
	case hash.MatchString(ref):
		return v1alpha1.GitRef{Commit: ref}
	case version.MatchString(ref):
		return v1alpha1.GitRef{Tag: ref}
	}
	return v1alpha1.GitRef{Branch: ref}
}

// isRefName has git's rules for names as far as they matter to anybody but git.
func isRefName(name string) bool {
	return name != "" && !strings.ContainsAny(name, " ~^:?*[\\\x7f") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") && !strings.HasPrefix(name, "-") &&
		!strings.HasPrefix(name, "/") && !strings.HasSuffix(name, "/") && !strings.HasSuffix(name, ".lock") &&
		!strings.HasSuffix(name, ".")
}
