package pull

import (
	"path"
	"strings"
)

// kind is what layers have at a path, as a set of bits.
type kind uint8

const (
	nothing   kind = 0
	file      kind = 1 << iota
	directory      // it may be named only by what is in it
	hidden         // whatever is below is removed
	emptied        // whatever is in it below is removed
)

// shadow is what layers hide of those below: their own entries, and what they remove.
type shadow map[string]kind

// hides says whether something above a path, or a mark at it, keeps it from being
// seen: a file where it has a directory, or a removal.
func (s shadow) hides(name string) bool {
	if s[name]&hidden != 0 {
		return true
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if at := s[dir]; at&(file|hidden|emptied) != 0 {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// add takes an entry of a layer, in which nothing has two kinds or is there twice,
// but for directories.
func (s shadow) add(name string, as kind) error {
	if name == "." {
		if as == file {
			return refuse(name, "is the image itself, not a file")
		}
		return nil
	}
	if at := s[name] & (file | directory); at == file || at != nothing && as == file {
		if at == as {
			return refuse(name, "is in one layer twice")
		}
		return refuse(name, "is both a file and a directory")
	}
	s[name] |= as
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s[dir]&file != 0 {
			return refuse(dir, "is both a file and a directory")
		}
		if s[dir]&directory != 0 {
			break
		}
		s[dir] |= directory
	}
	return nil
}

// hide takes a mark: a name in a directory. The path of the entry is for the error.
func (s shadow) hide(dir, mark, entry string) error {
	name, _ := strings.CutPrefix(mark, whiteout)
	if err := s.add(dir, directory); err != nil {
		return err
	}
	switch {
	case mark == opaque:
		s[dir] |= emptied
	case name == "" || name == "." || name == ".." || strings.HasPrefix(name, whiteout):
		return refuse(entry, "is no mark of a removal that is known")
	default:
		s[path.Join(dir, name)] |= hidden
	}
	return nil
}

// merge adds what the next layer hides of those below it.
func (s shadow) merge(next shadow) {
	for name, at := range next {
		s[name] |= at
	}
}
