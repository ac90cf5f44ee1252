package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

const sample = `package p

const limit, word = 1 << 10, "a"

func f(a, b int) (is bool) {
	if a < b && !(a == limit) {
		return true
	}
	if is {
		b++
	}
	if b > 0 {
		b = a
		g(word)
	}
	return false
}

func g(string) {}
`

// found are the places of the sample.
func found(t *testing.T) (all []place) {
	t.Helper()
	f := &finder{file: "internal/p/p.go", text: sample, files: token.NewFileSet()}
	parsed, err := parser.ParseFile(f.files, f.file, sample, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, f.visit)
	return f.places
}

func TestPlaces(t *testing.T) {
	var got []string
	for _, p := range found(t) {
		got = append(got, strings.TrimPrefix(p.String(), "internal/p/p.go:"))
	}
	slices.Sort(got)
	want := []string{
		"10: b++: left out", "12: b > 0: > is >=", "13: b = a: left out", "14: g(word): left out", "16: false: true",
		"3: 1 << 10: doubled", "6: a < b && !(a == limit): && is ||", "6: a < b: < is <=", "6: a == limit: == is !=",
		"7: return true: left out", "7: true: false", "9: is: negated",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// All changes of a file are in one text, in which each is chosen by its number.
func TestChangesAreInOneText(t *testing.T) {
	var edits []func() (edit, int)
	for i, p := range found(t) {
		if p.constant {
			continue // those have a text of their own
		}
		for _, e := range p.edits {
			edits = append(edits, func() (edit, int) { return e, i + 1 })
		}
	}
	text := edited(sample, edits)
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil {
		t.Errorf("%v in:\n%s", err, text)
	}
	for i, p := range found(t) {
		if has := strings.Contains(text, fmt.Sprintf("mutant(%d)", i+1)); has == p.constant {
			t.Errorf("%s is in it: %v:\n%s", p, has, text)
		}
	}
}

func TestChosen(t *testing.T) {
	all := make([]place, 10)
	for i := range all {
		all[i].line = i
	}
	for _, test := range []struct {
		n, first int
		want     []int
	}{{3, 0, []int{0, 3, 6}}, {3, 9, []int{9, 2, 5}}, {20, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}} {
		var got []int
		for i, p := range chosen(all, test.n, test.first) {
			if got = append(got, p.line); p.id != i+1 {
				t.Errorf("it is number %d, want %d", p.id, i+1)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d from %d: %v, want %v", test.n, test.first, got, test.want)
		}
	}
}

// Some of the places are tested by their numbers.
func TestNumbered(t *testing.T) {
	all := make([]place, 10)
	for i := range all {
		all[i].id = i + 1
	}
	for numbers, want := range map[string][]int{
		"": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "7": {7}, "1-2,9-10": {1, 2, 9, 10}, "1-3,2": {1, 2, 3},
		"0": nil, "3-11": nil, "5-4": nil, "x": nil,
	} {
		some, err := numbered(all, numbers)
		var got []int
		for _, p := range some {
			got = append(got, p.id)
		}
		if (err != nil) != (want == nil) || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", numbers, got, err)
		}
	}
}
