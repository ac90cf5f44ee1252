package content

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Link takes a symbolic link: what it leads to is in its place, too, if that is in the content. Whether it is, turns
// out in Seal.
func (b *Builder) Link(name, target string) error {
	clean, err := b.fit(name)
	switch {
	case err != nil:
		return err
	case clean == ".":
		return Refuse(name, "a file cannot have the name of a directory")
	case target == "" || path.IsAbs(target):
		return Refuse(name, "a symbolic link to %q, which is outside of the bundle", target)
	}
	if _, ok := b.files[clean]; ok {
		return Refuse(name, "the name of two files")
	}
	if _, ok := b.dirs[clean]; ok {
		return Refuse(name, "the name of both a file and a directory")
	}
	if err := b.parents(clean); err != nil {
		return err
	}
	if err := b.take(); err != nil {
		return err
	}
	if b.links == nil {
		b.links = map[string]string{}
	}
	b.links[clean] = target
	return nil
}

// follow puts what links lead to in their places. A link may lead to another one, or through it: each round follows
// those whose way is clear.
func (b *Builder) follow() error {
	for {
		followed := false
		for _, name := range slices.Sorted(maps.Keys(b.links)) {
			to := path.Join(path.Dir(name), b.links[name])
			if !b.isClear(to) {
				continue
			}
			delete(b.links, name)
			if err := b.copy(name, to); err != nil {
				return err
			}
			followed = true
		}
		if !followed {
			break
		}
	}
	var problems Problems
	for _, name := range slices.Sorted(maps.Keys(b.links)) {
		to := path.Join(path.Dir(name), b.links[name])
		what := "which is not in the bundle"
		switch {
		case to == ".." || strings.HasPrefix(to, "../"):
			what = "which is outside of the bundle"
		case to == "." || to == name || strings.HasPrefix(name, to+"/"):
			what = "which it is in itself"
		}
		problems.Add(Refuse(name, "a symbolic link to %q, %s", b.links[name], what))
	}
	return problems.Or(nil)
}

// isClear says whether a place is a file, or a directory in which no link is left to follow.
func (b *Builder) isClear(to string) bool {
	if _, ok := b.files[to]; ok {
		return true
	}
	if _, ok := b.dirs[to]; !ok {
		return false
	}
	for name := range b.links {
		if name == to || strings.HasPrefix(name, to+"/") {
			return false
		}
	}
	return true
}

// copy puts a file, or the files of a directory, into another place as well. Their bytes are there already, and count
// again: they are in the archive twice.
func (b *Builder) copy(name, from string) error {
	one := func(name string, file extent) error {
		if _, ok := b.files[name]; ok {
			return Refuse(name, "the name of two files")
		}
		if file.size > b.limits.Unpacked-b.bytes {
			return b.large()
		}
		if err := b.parents(name); err != nil {
			return err
		}
		if err := b.take(); err != nil {
			return err
		}
		b.bytes += file.size
		b.files[name] = file
		return nil
	}
	if file, ok := b.files[from]; ok {
		return one(name, file)
	}
	for _, file := range slices.Sorted(maps.Keys(b.files)) {
		if below, ok := strings.CutPrefix(file, from+"/"); ok {
			if err := one(name+"/"+below, b.files[file]); err != nil {
				return err
			}
		}
	}
	return nil
}
