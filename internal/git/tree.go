package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	paths "path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/berthdev/berth/internal/fault"
)

// ReasonRefused is the reason of an entry that is not taken out of a tree.
const ReasonRefused = "CONTENT_REFUSED"

// Files takes the files of a tree, and its symbolic links, in no order. Their names are relative to it. Where a link
// leads to is for Files to see.
type Files interface {
	Add(name string, size int64, r io.Reader) error
	Link(name, target string) error
}

const (
	maxDepth    = 64   // directories, one in the other
	maxProblems = 20   // that are named
	maxTarget   = 4096 // bytes of where a link leads to
)

// Files gives every file below a directory to files; empty is the whole commit. They are regular files, whether
// executable or not, and links: what else there is, is refused by its name, as are names that are none on some system.
// What the remote has left out is fetched at once. An error of files is returned as it is.
func (s *Snapshot) Files(ctx context.Context, dir string, files Files) error {
	watched, stop := s.fetcher.remote.watched(ctx)
	defer stop()
	disarm(watched)
	found := &contents{snapshot: s, dir: dir, files: map[plumbing.Hash][]string{}, links: map[plumbing.Hash][]string{}}
	err := found.list(watched)
	if err == nil {
		err = found.give(watched, files)
	}
	if err == nil {
		err = found.refused()
	}
	if taken, ok := errors.AsType[takeError](err); ok {
		return taken.error
	}
	if err != nil {
		return s.fetcher.remote.explain(ctx, watched, err, s.Ref)
	}
	return nil
}

// takeError is an error of what takes the files.
type takeError struct{ error }

// contents are the files and links below a directory, by what is in them.
type contents struct {
	snapshot *Snapshot
	dir      string
	files    map[plumbing.Hash][]string
	links    map[plumbing.Hash][]string
	entries  int
	problems []string
}

// list reads the trees, level by level.
func (c *contents) list(ctx context.Context) error {
	root, err := c.root(ctx)
	if err != nil {
		return err
	}
	// The directories that a tree is at: one can be at many.
	level := map[plumbing.Hash][]string{root: {""}}
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxDepth {
			return c.tooLarge("has more than %d directories, one in the other", maxDepth)
		}
		next := map[plumbing.Hash][]string{}
		wanted := map[plumbing.Hash]struct{}{}
		for hash := range level {
			wanted[hash] = struct{}{}
		}
		missing, err := c.snapshot.fetcher.objects.each(ctx, plumbing.TreeObject, wanted, maxMeta,
			func(hash plumbing.Hash, content []byte) error {
				var tree object.Tree
				if err := decode(content, &tree); err != nil {
					return fault.New(fault.Failed, "%s: a directory is not valid: %w", c.location(level[hash][0]), err).
						WithHint("check the repository with git fsck")
				}
				for _, dir := range level[hash] {
					if err := c.read(dir, tree.Entries, next); err != nil {
						return err
					}
				}
				return nil
			})
		if err != nil {
			return err
		}
		if missing > 0 {
			return plumbing.ErrObjectNotFound
		}
		level = next
	}
	return c.refused()
}

// root finds the tree of the directory.
func (c *contents) root(ctx context.Context) (plumbing.Hash, error) {
	s := c.snapshot
	if c.dir == "" || paths.Clean(c.dir) == "." {
		return s.tree, nil
	}
	if !fs.ValidPath(paths.Clean(c.dir)) {
		return plumbing.ZeroHash, fault.New(fault.InvalidArgument, "%q is not a directory of a repository", c.dir).
			WithHint("write its path from the root of the repository, without .. and without a slash in front")
	}
	entry, err := s.fetcher.entry(ctx, s.tree, paths.Clean(c.dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return plumbing.ZeroHash, fault.New(fault.NotFound, "there is no directory %s", s.Location(c.dir)).
			WithHint("check the path, which is case-sensitive")
	case err != nil:
		return plumbing.ZeroHash, err
	case entry.Mode != filemode.Dir:
		return plumbing.ZeroHash, fault.New(fault.InvalidArgument, "%s is %s, not a directory", s.Location(c.dir),
			kindOf(entry.Mode)).
			WithHint("name the directory that it is in, or leads to")
	}
	return entry.Hash, nil
}

// read takes the entries of a directory.
func (c *contents) read(dir string, entries []object.TreeEntry, next map[plumbing.Hash][]string) error {
	seen := make(map[string]struct{}, len(entries))
	for _, entry := range entries {
		c.entries++
		if c.entries > c.snapshot.fetcher.remote.Limits.Entries {
			return c.tooLarge("has more than %d files and directories", c.snapshot.fetcher.remote.Limits.Entries)
		}
		name := paths.Join(dir, entry.Name)
		if _, twice := seen[entry.Name]; twice {
			c.refuse(name, "is there twice")
			continue
		}
		seen[entry.Name] = struct{}{}
		if problem := badName(entry.Name); problem != "" {
			c.refuse(dir+"/"+entry.Name, problem)
			continue
		}
		switch entry.Mode {
		case filemode.Dir:
			next[entry.Hash] = append(next[entry.Hash], name)
		case filemode.Regular, filemode.Executable, filemode.Deprecated:
			c.files[entry.Hash] = append(c.files[entry.Hash], name)
		case filemode.Symlink:
			c.links[entry.Hash] = append(c.links[entry.Hash], name)
		default:
			c.refuse(name, "is "+kindOf(entry.Mode))
		}
	}
	return nil
}

// badName says what is wrong with a name in a tree. Git itself takes none of these, but a tree that is made by hand can
// have any.
func badName(name string) string {
	switch {
	case name == "" || name == "." || name == ".." || strings.Contains(name, "/"):
		return "is not a name of a file"
	case strings.EqualFold(name, ".git"):
		return "has the name of git's own directory"
	case !utf8.ValidString(name):
		return "has a name that is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has control characters in its name"
	case strings.Contains(name, `\`):
		return "has a backslash in its name, which separates directories on some systems"
	}
	return ""
}

func kindOf(mode filemode.FileMode) string {
	switch mode {
	case filemode.Symlink:
		return "a symbolic link"
	case filemode.Submodule:
		return "a submodule"
	case filemode.Regular, filemode.Executable, filemode.Deprecated:
		return "a file"
	}
	return fmt.Sprintf("an entry of the unknown mode %s", mode)
}

// give hands the files over, each with all of its content.
func (c *contents) give(ctx context.Context, files Files) error {
	f := c.snapshot.fetcher
	wanted := map[plumbing.Hash]struct{}{}
	for _, all := range []map[plumbing.Hash][]string{c.files, c.links} {
		for hash := range all {
			wanted[hash] = struct{}{}
		}
	}
	take := func(hash plumbing.Hash, content []byte) error { return c.file(hash, content, files) }
	missing, err := f.objects.each(ctx, plumbing.BlobObject, wanted, f.remote.Limits.File, take)
	if err == nil && missing > 0 {
		if err = f.more(ctx, slices.Collect(maps.Keys(wanted))...); err == nil {
			missing, err = f.objects.each(ctx, plumbing.BlobObject, wanted, f.remote.Limits.File, take)
		}
	}
	if large, ok := errors.AsType[largeObjectError](err); ok {
		return TooLarge(c.location(slices.Concat(c.files[large.hash], c.links[large.hash])[0]), f.remote.Limits.File).
			WithHint("leave it out of the repository, or name a directory without it")
	}
	if err == nil && missing > 0 {
		return plumbing.ErrObjectNotFound
	}
	return err
}

const (
	lfsPointer    = "version https://git-lfs.github.com/spec/v1\n"
	maxLFSPointer = 1024 // bytes
)

// file hands over what is in a file, wherever it is.
func (c *contents) file(hash plumbing.Hash, content []byte, files Files) error {
	for _, name := range c.files[hash] {
		if len(content) < maxLFSPointer && bytes.HasPrefix(content, []byte(lfsPointer)) {
			c.refuse(name, "is a pointer of Git LFS: its content is not in the repository")
			continue
		}
		if err := files.Add(name, int64(len(content)), bytes.NewReader(content)); err != nil {
			return takeError{err}
		}
	}
	for _, name := range c.links[hash] {
		if len(content) > maxTarget {
			c.refuse(name, fmt.Sprintf("is a symbolic link to a path of more than %d bytes", maxTarget))
		} else if err := files.Link(name, string(content)); err != nil {
			return takeError{err}
		}
	}
	return nil
}

func (c *contents) location(name string) string {
	return strings.TrimSuffix(c.snapshot.Location(paths.Join(c.dir, name)), ":")
}

func (c *contents) refuse(name, problem string) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf("%q %s", strings.TrimPrefix(name, "/"), problem))
	}
}

// refused is the error of everything that was refused; nil if nothing was.
func (c *contents) refused() error {
	if len(c.problems) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "%s: %s", c.location(""), c.problems[0]).WithReason(ReasonRefused).
		WithHint("a bundle has regular files only: leave it out of the repository, or name a directory without it")
	if len(c.problems) > 1 {
		err.Message = fmt.Sprintf("%s has %d entries that cannot be in a bundle, the first is that %s", c.location(""),
			len(c.problems), fault.Line(c.problems[0]))
		err.Problems = c.problems
	}
	return err
}

func (c *contents) tooLarge(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, "%s %s", c.location(""), fmt.Sprintf(format, args...)).
		WithHint("name a directory of it that has less")
}
