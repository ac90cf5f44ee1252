package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// switches is what each package gets: the switches of its changes.
const switches = `package %s

import "os"

var mutantNumber = os.Getenv("BERTH_MUTANT")

func mutant(n int) bool {
	if mutantNumber == "" {
		return false
	}
	number := 0
	for _, digit := range mutantNumber {
		number = number*10 + int(digit-'0')
	}
	return number == n
}
`

// overlay writes the files with their changes into a directory, and the file that tells the
// compiler about them.
func overlay(dir string, changes []place) (string, error) {
	edits, packages := map[string][]func() (edit, int){}, map[string]bool{}
	for _, p := range changes {
		packages[p.pkg] = packages[p.pkg] || !p.constant
		for _, e := range p.edits {
			edits[p.file] = append(edits[p.file], func() (edit, int) { return e, p.id })
		}
	}
	replace := map[string]string{}
	put := func(file, text string) error {
		at, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		replace[at] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		return os.WriteFile(replace[at], []byte(text), 0o600)
	}
	for file, all := range edits {
		text, err := os.ReadFile(file) //nolint:gosec // of the checkout
		if err != nil {
			return "", err
		}
		if err := put(file, edited(string(text), all)); err != nil {
			return "", err
		}
	}
	for pkg, has := range packages {
		if name := filepath.Base(pkg); has {
			if err := put(filepath.Join(pkg, "mutant_switches.go"), fmt.Sprintf(switches, name)); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return at, os.WriteFile(at, text, 0o600)
}

// edited is a text with all of its edits. What is inside of another stays inside.
func edited(text string, all []func() (edit, int)) string {
	slices.SortStableFunc(all, func(a, b func() (edit, int)) int {
		x, _ := a()
		y, _ := b()
		switch {
		case x.at != y.at:
			return x.at - y.at
		case x.closes != y.closes: // what ends comes first
			if x.closes {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.reach, x.reach) // of those that begin the longest, of those that end the shortest
	})
	var b strings.Builder
	last := 0
	for _, one := range all {
		e, id := one()
		b.WriteString(text[last:e.at])
		b.WriteString(e.text(id))
		last = e.at
	}
	return b.String() + text[last:]
}
