package blueprint

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/yamldoc"
)

// Origins says of each field of a resolved blueprint which layer set it, by its
// dotted path: image, env.TEAM, initScripts[0].name.
type Origins map[string]string

func (v value) walk(path string, each func(path string, leaf value)) {
	for key, inner := range v.fields {
		inner.walk(strings.TrimPrefix(path+"."+key, "."), each)
	}
	for i, inner := range v.items {
		inner.walk(fmt.Sprintf("%s[%d]", path, i), each)
	}
	if v.scalar != nil && !yamldoc.IsNull(v.scalar) {
		each(path, v)
	}
}

// cut shortens what a person only has to recognise.
func cut(text string, length int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length-1]) + "…"
	}
	return text
}

// origins says of each leaf where it comes from. What is not inherited is no
// part of what is resolved.
func (v value) origins() Origins {
	all := Origins{}
	v.walk("", func(path string, leaf value) {
		if path == "template" || path == "isTemplate" {
			return
		}
		all[path] = leaf.at.String()
		if isExpression(leaf.scalar) {
			all[path] += ", " + expressionTag + " " + cut(leaf.scalar.Value, 60)
		}
	})
	return all
}

// find looks a path up that a problem names. The field may be missing, or be no
// leaf: then the nearest that is there, or the blueprint itself, is where one
// has to look.
func (v value) find(path string) place {
	at := v.at
	for path != "" {
		inner, rest, ok := v.step(path)
		if !ok {
			return at
		}
		v, path, at = inner, rest, inner.at
	}
	return at
}

// step goes one part of a path down. Keys may have dots in them, so the longest
// key that fits is taken.
func (v value) step(path string) (inner value, rest string, ok bool) {
	longest := -1
	for key, field := range v.fields {
		after, fits := strings.CutPrefix(path, key)
		if fits && len(key) > longest && (after == "" || after[0] == '.' || after[0] == '[') {
			inner, rest, longest = field, strings.TrimPrefix(after, "."), len(key)
		}
	}
	var i int
	if n, err := fmt.Sscanf(path, "[%d]", &i); n == 1 && err == nil && i < len(v.items) {
		_, rest, _ = strings.Cut(path, "]")
		return v.items[i], strings.TrimPrefix(rest, "."), true
	}
	return inner, rest, longest >= 0
}
