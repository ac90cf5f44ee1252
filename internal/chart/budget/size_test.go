package budget

import (
	"reflect"
	"strings"
	"testing"
)

// What several values refer to is counted once, and what refers to itself comes to an end.
func TestHeldCountsOnce(t *testing.T) {
	text := map[string]any{"text": strings.Repeat("x", 1000), "list": []any{1, 2, 3}}
	one, two := Held(map[string]any{"a": text}), Held(map[string]any{"a": text, "b": text})
	if one < 1000 || two >= one+1000 {
		t.Errorf("once %.0f, twice %.0f bytes", one, two)
	}
	text["again"] = text
	if around := Held(text); around < 1000 || around > 3*one {
		t.Errorf("%.0f bytes", around)
	}
}

// The width of a format is its largest number, of which each is its own.
func TestWidth(t *testing.T) {
	for format, want := range map[string]float64{
		"":            0,
		"%s":          0,
		"%3d":         3,
		"%3d and %4d": 4,
		"%40d%2d":     40,
		"%1.20f":      20,
		"%*d":         1e6,
		"%99999999d":  1e6,
	} {
		if got := width(format); got != want {
			t.Errorf("%q: %.0f, want %.0f", format, got, want)
		}
	}
}

// An argument that is missing or of another type counts as empty.
func TestArgs(t *testing.T) {
	a := Args{reflect.ValueOf("four"), reflect.ValueOf(-12), reflect.ValueOf([]string{"x"})}
	for i, want := range map[int]float64{-1: 0, 0: 4, 1: 0, 2: 0, 3: 0} {
		if got := a.text(i); got != want {
			t.Errorf("the text of argument %d has %.0f bytes, want %.0f", i, got, want)
		}
	}
	for i, want := range map[int]float64{0: 0, 1: 12, 2: 0, 3: 0} {
		if got := a.number(i); got != want {
			t.Errorf("the number of argument %d is %.0f, want %.0f", i, got, want)
		}
	}
}
