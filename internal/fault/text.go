package fault

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/pattern"
)

// maxArgument is how much of an argument a message has, in bytes: what is longer is recognized by its beginning.
const maxArgument = 1 << 10

// Line makes one line of a text from elsewhere, and shortens one that is long. In a message, a line of its own is for
// berth: who holds a lock, or what a cluster answers, must not be able to add one.
func Line(text string) string { return oneLine(Shorten(text, maxArgument)) }

func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ",
		"\u2029", " ").Replace(text)
}

// Shorten cuts a text to a number of bytes and says how long it was.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:end], len(text))
}

// asLines makes a Line of each argument of a message that comes from elsewhere: only the format can have several. It is
// done in place, as go vet recognizes what is formatted as by fmt.Errorf only if the arguments are passed on.
func asLines(args []any) {
	for i, arg := range args {
		args[i] = argument(arg)
	}
}

func argument(arg any) any {
	switch a := arg.(type) {
	case []string:
		lines := make([]string, len(a))
		for i, text := range a {
			lines[i] = Line(text)
		}
		return lines
	case error:
		if _, own := errors.AsType[*Error](a); own || Line(a.Error()) == a.Error() {
			return a // an error of berth is made of lines already
		}
		return foreignError{a}
	case fmt.Stringer:
		if text := a.String(); Line(text) != text {
			return foreign(text)
		}
		return a
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.String && Line(v.String()) != v.String() {
		return foreign(v.String())
	}
	return arg
}

// foreign is a text that is formatted as a Line; quoted, it is one by itself.
type foreign string

// Format implements fmt.Formatter.
func (f foreign) Format(s fmt.State, verb rune) {
	text := Shorten(string(f), maxArgument)
	if verb != 'q' {
		text = oneLine(text)
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), text)
}

// foreignError is an error whose message is a Line.
type foreignError struct{ error }

func (e foreignError) Error() string { return Line(e.error.Error()) }

// Unwrap gives the error as it is.
func (e foreignError) Unwrap() error { return e.error }

// sequence is what colours a line or moves the cursor.
const sequence pattern.Expr = `\x1b(?:\[[0-9;:?]*[\x20-\x2f]*[\x40-\x7e]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)`

// Plain takes out of a text what a terminal obeys, and what reorders a line: for texts that are kept where other
// programs show them. Lines and tabs stay.
func Plain(text string) string {
	text = sequence.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// CutExcerpt takes a problem apart: the line that it is about may follow it, with a mark below at the place.
func CutExcerpt(text string) (problem, excerpt string) {
	lines := strings.Split(text, "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "  ") || !strings.HasPrefix(strings.TrimLeft(lines[2], " "),
		"^") {
		return text, ""
	}
	return lines[0], lines[1] + "\n" + lines[2]
}

// CutExcerpts takes problems apart: as many excerpts, or none if no problem has one.
func CutExcerpts(texts []string) (problems, excerpts []string) {
	some := false
	for _, text := range texts {
		problem, excerpt := CutExcerpt(text)
		problems, excerpts = append(problems, problem), append(excerpts, excerpt)
		some = some || excerpt != ""
	}
	if !some {
		return problems, nil
	}
	return problems, excerpts
}

// Command is a command line that a hint proposes, as one would type it. Names in it may come from the cluster, where
// anybody wrote them.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Word(word)
	}
	return strings.Join(quoted, " ")
}

// Word is an argument as one would type it: quoted if a shell would split it.
func Word(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("~@%+=:,./_-", r)
	}
	if s != "" && s[0] != '~' && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
