// Package pattern has regular expressions that are compiled when they are used for the first time: most starts of berth
// use few of them, and compiling all of them would take milliseconds and half a megabyte of each.
package pattern

import (
	"regexp"
	"sync"
)

// Expr is an expression in the syntax of package regexp, of which its methods are. It panics if it is malformed:
// expressions are constants, and a test compiles them all.
type Expr string

//nolint:gochecknoglobals // what was compiled: the same for everybody
var compiled sync.Map

func (e Expr) regexp() *regexp.Regexp {
	if known, ok := compiled.Load(e); ok {
		return known.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is stored
	}
	made := regexp.MustCompile(string(e))
	compiled.Store(e, made)
	return made
}

// MatchString reports whether there is a match.
func (e Expr) MatchString(s string) bool { return e.regexp().MatchString(s) }

// FindString gives the first match; empty if there is none.
func (e Expr) FindString(s string) string { return e.regexp().FindString(s) }

// FindStringSubmatch gives the first match and its groups; nil if there is none.
func (e Expr) FindStringSubmatch(s string) []string { return e.regexp().FindStringSubmatch(s) }

// FindAllStringSubmatch gives the first n matches and their groups; all, if n is negative.
func (e Expr) FindAllStringSubmatch(s string, n int) [][]string {
	return e.regexp().FindAllStringSubmatch(s, n)
}

// ReplaceAllString replaces all matches; $1 is their first group.
func (e Expr) ReplaceAllString(s, by string) string { return e.regexp().ReplaceAllString(s, by) }

// FindStringSubmatchIndex gives where the first match and its groups begin and end; nil if there is none.
func (e Expr) FindStringSubmatchIndex(s string) []int {
	return e.regexp().FindStringSubmatchIndex(s)
}

// Match reports whether there is a match.
func (e Expr) Match(b []byte) bool { return e.regexp().Match(b) }

// FindSubmatch gives the first match and its groups; nil if there is none.
func (e Expr) FindSubmatch(b []byte) [][]byte { return e.regexp().FindSubmatch(b) }
