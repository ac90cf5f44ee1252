package budget

import "strings"

// What follows are the bounds of functions that make a text.

// exactly is the bound of a text that is made as long as this.
func exactly(bytes, pass float64) Need {
	if !(bytes <= MaxText) {
		panic(LimitError("makes too much text"))
	}
	return Need{Keep: bytes, Pass: pass}
}

// repeated is the text of repeat.
func repeated(a Args) Need { return exactly(a.number(0)*a.text(1), 0) }

// indented has each line indented.
func indented(a Args) Need {
	pad := a.number(0) + 1
	return exactly(a.text(1)+pad*pieces("\n", a.string(1)), pad)
}

func replaced(a Args) Need {
	return exactly(float64(strings.Count(a.string(2), a.string(0)))*a.text(1)+a.text(2), 0)
}

// wrapped breaks each two lines, at worst, in the width of one.
func wrapped(width, separator, in int) Bound {
	return func(a Args) Need {
		w := max(1, a.signed(width))
		lines := min(a.text(in), 2*a.text(in)/w+2)
		bytes := a.text(in) + lines*max(1, a.text(separator))
		return exactly(bytes, bytes)
	}
}

// joined has the separator between all items.
func joined(a Args) Need {
	s := a.size()
	return exactly(s.Text+4*s.Bytes+64*s.Nodes+a.text(0)*(a.inner()+1), ofItem*s.Nodes)
}

// trimmed looks at each character of one text for each of another.
func trimmed(a Args) Need { return Need{Steps: a.text(0) * a.text(1)} }

// formatted is printf. A width is for each value that a verb prints, and a verb with an
// index may print the same one again.
func formatted(a Args) Need {
	format := a.string(0)
	s := a[1:].size()
	verbs := float64(strings.Count(format, "%"))
	n := Need{Keep: float64(len(format)) + 8*s.Text + 64*s.Nodes + 64*verbs}
	if strings.Contains(format, "[") {
		n.Keep = float64(len(format)) + max(1, verbs)*(8*s.Text+64*(s.Nodes+1))
	}
	return Need{Keep: n.Keep + verbs*width(format)*(s.Nodes+s.Bytes+1)}
}

// width is the largest number in a format; * stands for fmt's largest.
func width(format string) (most float64) {
	if strings.Contains(format, "*") {
		return 1e6
	}
	n := 0.0
	for _, c := range format {
		if c < '0' || c > '9' {
			n = 0
			continue
		}
		n = min(10*n+float64(c-'0'), 1e6)
		most = max(most, n)
	}
	return most
}
