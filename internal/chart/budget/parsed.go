package budget

import (
	"math"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/yamldoc"
)

// YAML is what it takes to parse a text of YAML that YAMLLimits allow, and what of that stays,
// in bytes.
func YAML(text []byte) (keep, pass float64) {
	marks, size := float64(yamldoc.Marks(text)), float64(len(text))
	keep, pass = 2*size+150*marks, 6*size+600*marks
	if yamldoc.HasAliases(text) {
		weight := float64(YAMLLimits(text).Weight)
		keep, pass = max(keep, 8*weight), pass+16*weight
	}
	return keep, pass
}

// YAMLLimits are those of a text of YAML: aliases may double it.
func YAMLLimits(text []byte) yamldoc.Limits {
	return yamldoc.Limits{
		Bytes: 12 << 20, Marks: 1_500_000, Depth: 500,
		Weight: max(1<<20, 2*(len(text)+16*yamldoc.Marks(text))),
	}
}

// ofYAML is the bound of functions that read YAML.
func ofYAML(a Args) Need {
	keep, pass := YAML([]byte(a.string(0)))
	return Need{Keep: keep, Pass: pass}
}

// ofJSON is the bound of functions that read JSON.
func ofJSON(a Args) Need {
	bytes := JSON(a.string(0))
	return Need{Keep: bytes, Pass: bytes}
}

// JSON is what a text of JSON takes when it is parsed, in bytes: the smallest mapping takes 400.
func JSON[T string | []byte](text T) float64 {
	keep := 2 * float64(len(text))
	for i := range len(text) {
		switch text[i] {
		case '{':
			keep += 400
		case ':', '[':
			keep += 100
		case ',':
			keep += 50
		}
	}
	return keep
}

// ofTOML is that of TOML: each key is kept with its path, in each line, and with all that is
// above it.
func ofTOML(a Args) Need {
	most := 1.0
	for line := range strings.Lines(a.string(0)) {
		most = max(most, float64(strings.Count(line, ".")+1))
	}
	bytes := 64 * a.text(0)
	for line := range strings.Lines(a.string(0)) {
		depth := float64(strings.Count(line, ".") + 1)
		bytes += depth*float64(len(line))*2 + depth*500 + most*64*(1+float64(strings.Count(line, "=")))
	}
	return Need{Keep: bytes, Pass: bytes}
}

// pattern is what it takes to compile a regular expression, and how many states it may have.
// Repetitions are written out; of all that are inside each other there are 1000 at most.
func pattern(text string) (bytes, states float64) {
	times, number := 1.0, ""
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			number += text[i : i+1]
		case c == '{' || c == ',' || c == '}':
			if n, err := strconv.Atoi(number); err == nil {
				times *= max(1, float64(n))
			}
			number = ""
		default:
			number = ""
		}
	}
	states = (float64(len(text)) + 1) * min(times, 1000)
	classes := strings.Count(text, `\p`) + strings.Count(text, `\P`) + strings.Count(text, "(?i")
	return 400*float64(len(text)) + 200*states + float64(classes)*ofClass, states
}

// ofClass are the bytes of a class of Unicode's characters.
const ofClass = 16 << 10

// regex is the bound of functions of regular expressions, which give so many bytes for each
// match; most says how many there are at most.
func regex(in int, each float64, most func(a Args) float64) Bound {
	return func(a Args) Need {
		bytes, states := pattern(a.string(0))
		matches := a.text(in) + 1
		if most != nil {
			matches = min(matches, most(a))
		}
		return Need{Keep: 64 + each*matches, Pass: bytes + each*matches, Steps: (a.text(in) + 1) * states}
	}
}

// limited is the number of matches that an argument asks for.
func limited(i int) func(Args) float64 {
	return func(a Args) float64 {
		if n := a.signed(i); n >= 0 {
			return n
		}
		return math.Inf(1)
	}
}

// substituted is the bound of replacing matches, of which $ refers to what matches: those of
// one reference are, all together, not more than the text.
func substituted(literally bool) Bound {
	return func(a Args) Need {
		n := regex(1, 0, nil)(a)
		bytes := a.text(1) + (a.text(1)+1)*a.text(2)
		if !literally {
			bytes += float64(strings.Count(a.string(2), "$")) * a.text(1)
		}
		made := exactly(bytes, bytes/2)
		return Need{Keep: made.Keep, Pass: n.Pass + made.Pass, Steps: n.Steps}
	}
}

// The bytes that parsed templates take.
const (
	ofAction = 1000 // with what is put into it
	ofCode   = 64   // for each byte inside of an action
)

// Template is what a template takes when it is parsed, in bytes, and how deep its blocks and
// parentheses are inside each other, which a parser has on its stack.
func Template(text string) (bytes float64, depth int) {
	bytes, blocks := float64(len(text)), 0
	for {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return bytes, depth
		}
		code, after, _ := strings.Cut(rest, "}}")
		if strings.HasPrefix(strings.TrimLeft(code, "- \t"), "/*") {
			_, after, _ = strings.Cut(rest, "*/")
		} else {
			bytes += ofCode * float64(len(code))
			switch word, _, _ := strings.Cut(strings.TrimLeft(code, "- \t\r\n")+" ", " "); word {
			case "if", "with", "range", "block", "define":
				blocks++
			case "end":
				blocks = max(0, blocks-1)
			}
			depth = max(depth, blocks, parentheses(code))
		}
		bytes += ofAction
		text = after
	}
}

// parentheses are how many are open at once.
func parentheses(code string) (most int) {
	open := 0
	for i := range len(code) {
		switch code[i] {
		case '(':
			open++
			most = max(most, open)
		case ')':
			open--
		}
	}
	return most
}
