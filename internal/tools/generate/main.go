// Command generate writes what is made from the code and kept in the checkout: completions, command reference, schemas
// and pictures. It is run at the top of the checkout. What it writes is the same on every machine and every day, so
// that a difference always means that the code has changed.
//
// With -man DIR it writes the man pages instead, which a release has and the checkout has not; with -site DIR the pages
// about causes that the site has, one for each.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("man", "", "write the man pages into this directory, and nothing else")
	site := flag.String("site", "", "write the site's pages about causes into this directory, and nothing else")
	flag.Parse()
	if err := run(*dir, *site); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(man, site string) error {
	if site != "" {
		pages, err := causePages(site)
		if err != nil {
			return err
		}
		return pages.write()
	}
	if man != "" {
		pages, err := manual(man)
		if err != nil {
			return err
		}
		return pages.write()
	}
	wanted, err := generated()
	if err != nil {
		return err
	}
	present, err := existing()
	if err != nil {
		return err
	}
	for name := range present {
		if _, ok := wanted[name]; !ok {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return wanted.write()
}

// files are contents by path, from the top of the checkout.
type files map[string][]byte

func (f files) write() error {
	for name, content := range f {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// directories hold generated files and no others.
func directories() []string {
	return []string{"completions", "docs/commands", "docs/pictures", "docs/schema", examplesDir}
}

// generated makes all files.
func generated() (files, error) {
	all := files{}
	for _, part := range []func(files) error{
		completions, reference, topics, schemas, blueprints, users, output,
		pictures, causes,
	} {
		if err := part(all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// existing reads the generated files of the checkout.
func existing() (files, error) {
	all := files{}
	for _, dir := range directories() {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the first time
			}
			if err != nil || entry.IsDir() {
				return err
			}
			all[filepath.ToSlash(path)], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
