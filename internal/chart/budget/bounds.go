package budget

import (
	"math"
	"reflect"
	"strings"
)

// Need is what a call takes at most.
type Need struct {
	Keep  float64 // bytes of what it gives
	Pass  float64 // bytes that are dropped when it ends
	Steps float64 // of work, where that is not in proportion to the bytes; see MaxSteps
	Slow  bool    // it takes long for what it is given, and has to be left behind in time
}

// Bound says what a call of a function takes, from its arguments alone.
type Bound func(a Args) Need

// Args are the arguments of a call as the function has them: what is variadic is one slice.
// The methods panic with a LimitError if an argument is too large to be looked at.
type Args []reflect.Value

// text is the length of a string among the arguments, in bytes.
func (a Args) text(i int) float64 { return float64(len(a.string(i))) }

func (a Args) string(i int) string {
	if i >= 0 && i < len(a) && a[i].Kind() == reflect.String {
		return a[i].String()
	}
	return ""
}

// number is the absolute value of an argument.
func (a Args) number(i int) float64 {
	if i < len(a) && a[i].CanInt() {
		return math.Abs(float64(a[i].Int()))
	}
	return 0
}

// size is that of all arguments with all that is in them.
func (a Args) size() Size {
	size, err := Measure(a...)
	if err != nil {
		panic(err)
	}
	return size
}

// items are how many there are in the arguments, and in those that are lists and mappings.
func (a Args) items() (n float64) {
	for i, v := range a {
		n++
		for v.Kind() == reflect.Interface && !v.IsNil() {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Map:
			n += float64(v.Len())
		case reflect.Slice, reflect.Array:
			n += float64(v.Len())
			if i == len(a)-1 {
				n += Args(elements(v)).inner()
			}
		}
	}
	return n
}

// inner are the items of lists and mappings.
func (a Args) inner() (n float64) {
	for _, v := range a {
		for v.Kind() == reflect.Interface && !v.IsNil() {
			v = v.Elem()
		}
		if kind := v.Kind(); kind == reflect.Map || kind == reflect.Slice {
			n += float64(v.Len())
		}
	}
	return n
}

// elements are those of a list of anything.
func elements(v reflect.Value) (all []reflect.Value) {
	if kind := v.Type().Elem().Kind(); kind != reflect.Interface && kind != reflect.Map && kind != reflect.Slice {
		return nil
	}
	for i := range v.Len() {
		all = append(all, v.Index(i))
	}
	return all
}

// What follows are the kinds of bounds.

// nothing is the bound of what gives a number, a boolean, or a part of what it was given.
func nothing(Args) Need { return Need{} }

// said is that of functions of numbers, and of what else prints a value in an error.
func said(a Args) Need {
	size := a.size()
	return Need{Pass: 8*size.Text + 8*size.Bytes + 64*size.Nodes}
}

// The bytes for each key that is sorted, of mappings with more than a few.
const (
	ofSorted = 64
	fewKeys  = 1000
)

// looped is that of a value that a loop is over: the keys of a mapping are sorted, and what has
// no items is printed in an error.
func looped(a Args) Need {
	v := a[0]
	for (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Map:
		return Need{Keep: ofSorted * max(0, float64(v.Len()-fewKeys))}
	case reflect.Slice:
		return Need{}
	}
	return said(a)
}

// small is that of short texts: sums, identifiers, dates.
func small(a Args) Need { return Need{Keep: 256, Pass: said(a).Pass} }

// charged is that of what charges while it works: templates, as they write.
func charged(Args) Need { return Need{} }

// asked is that of what the cluster answers, of which no more is read than this.
func asked(Args) Need { return Need{Pass: MaxAnswer} }

// MaxAnswer are the bytes of memory that an answer of the cluster takes at most.
const MaxAnswer = 32 << 20

// measured is that of what looks at all that is in its arguments.
func measured(a Args) Need { return Need{Steps: a.size().Nodes} }

// decimals is that of numbers as exact as their product is long.
func decimals(a Args) Need {
	return Need{Keep: 64, Pass: said(a).Pass, Steps: 128 * a.items() * a.items()}
}

// text is that of functions of texts, which make so many bytes of each at most.
func text(times float64) Bound {
	return func(a Args) Need {
		n := Need{Keep: 64}
		for _, v := range a {
			if v.Kind() == reflect.String {
				n.Keep += times * float64(v.Len())
			}
		}
		return n
	}
}

// printed is that of functions that write any value, of whose texts they make so many bytes.
func printed(times float64) Bound {
	return func(a Args) Need {
		size := a.size()
		return Need{Keep: times*size.Text + 64*size.Nodes}
	}
}

// shown is that of a value that a template writes: what is written is charged where it is kept.
func shown(a Args) Need {
	size := a.size()
	return Need{Pass: 2*size.Text + 8*size.Bytes + 64*size.Nodes} // a list of bytes is printed as numbers
}

// list is that of functions which make a list or mapping of the items of others: so many bytes
// for each.
func list(each float64) Bound {
	return func(a Args) Need { return Need{Keep: ofMap + each*a.items()} }
}

// sliced is a part of a list; the indices may be anything.
func sliced(a Args) Need {
	n := list(ofItem)(a)
	n.Pass += said(a[1:]).Pass
	return n
}

// whole is that of functions which copy or write everything: so many bytes for each byte of
// text, and for each value.
func whole(keep, pass, node float64) Bound {
	return func(a Args) Need {
		s := a.size()
		return Need{Keep: keep*s.Text + 64*s.Nodes + 4*s.Indent, Pass: pass*s.Text + node*s.Nodes + 4*s.Indent}
	}
}

// withPaths is whole for formats that repeat the path of keys.
func withPaths(a Args) Need {
	s := a.size()
	n := whole(12, 12, 600)(a)
	n.Keep += 4 * s.Path
	n.Pass += 4 * s.Path
	return n
}

// compared is that of functions that compare each item with all others.
func compared(a Args) Need {
	n := list(ofItem)(a)
	n.Steps = a.items() * a.size().Nodes
	return n
}

// slow is that of functions whose arguments do not say how long they take.
func slow(pass float64) Bound {
	return func(a Args) Need {
		n := text(4)(a)
		return Need{Keep: n.Keep + 16<<10, Pass: n.Keep + pass + said(a).Pass, Slow: true}
	}
}

// counted is that of so many items of so many bytes.
func counted(each float64, count func(a Args) float64) Bound {
	return func(a Args) Need {
		n := count(a)
		if !(n <= maxCount) {
			panic(LimitError("makes too much: more than a million items"))
		}
		return Need{Keep: 64 + each*n}
	}
}

// maxCount is the most that a function makes of a number.
const maxCount = 1_000_000

// maxExact are the numbers that are counted with: beyond, steps overflow.
const maxExact = 1 << 53

// steps are those of until, from, to and by.
func steps(from, to, by float64) float64 {
	switch {
	case math.Abs(from) > maxExact || math.Abs(to) > maxExact || math.Abs(by) > maxExact:
		return math.Inf(1)
	case by == 0:
		return 0
	}
	return math.Ceil(math.Abs(to-from) / math.Abs(by))
}

func (a Args) signed(i int) float64 {
	if i < len(a) && a[i].CanInt() {
		return float64(a[i].Int())
	}
	return 0
}

func ofUntil(a Args) float64     { return steps(0, a.signed(0), 1) }
func ofUntilStep(a Args) float64 { return steps(a.signed(0), a.signed(1), a.signed(2)) }

func ofSeq(a Args) float64 {
	var n Args
	for i := range a[0].Len() {
		n = append(n, a[0].Index(i))
	}
	switch len(n) {
	case 1:
		return steps(1, n.signed(0), 1)
	case 2:
		return steps(n.signed(0), n.signed(1), 1)
	case 3:
		return steps(n.signed(0), n.signed(2), n.signed(1))
	}
	return 0
}

// pieces are those that a separator makes of a text.
func pieces(separator, of string) float64 { return float64(strings.Count(of, separator)) + 1 }

func ofSplit(a Args) float64 { return pieces(a.string(0), a.string(1)) }

func ofSplitN(a Args) float64 {
	n := pieces(a.string(0), a.string(2))
	if most := a.signed(1); most >= 0 {
		return min(n, most)
	}
	return n
}

// keyed is dict: the keys are printed.
func keyed(a Args) Need {
	n := Need{Keep: ofMap + ofEntry*float64(a[0].Len())/2}
	for i := 0; i < a[0].Len(); i += 2 {
		key := a[0].Index(i)
		if key.Kind() == reflect.Interface && !key.IsNil() && key.Elem().Kind() == reflect.String {
			continue
		}
		size := Args{key}.size()
		n.Keep += size.Text + 64*size.Nodes
	}
	return n
}

// entry is set: one more in a mapping that grows.
func entry(Args) Need { return Need{Keep: ofEntry} }
