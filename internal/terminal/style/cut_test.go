package style

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	tests := []struct {
		in          string
		width       int
		end, middle string
	}{
		{"short", 5, "short", "short"},
		{"alice-3f9c2e1", 8, "alice-3…", "alic…2e1"},
		{"0/3 nodes: 2 insufficient cpu", 11, "0/3 nodes:…", "0/3 n…t cpu"},
		{"漢字漢字漢字", 7, "漢字漢…", "漢…字"},
		{"abc", 1, "a", "a"},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
	}
	for _, tt := range tests {
		if got := cutEnd(tt.in, tt.width, "…"); got != tt.end {
			t.Errorf("cutEnd(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.end)
		}
		if got := cutMiddle(tt.in, tt.width, "…"); got != tt.middle {
			t.Errorf("cutMiddle(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.middle)
		}
	}
}

// Of an image that is too long, the tag stays, or the end of it.
func TestCutStart(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"kruise-manager:v1.8.0", 21, "kruise-manager:v1.8.0"},
		{"kruise-manager:v1.8.0", 12, "…ager:v1.8.0"},
		{"ide:2026.11.21-3f9a7c1", 12, "….21-3f9a7c1"},
		{"漢字漢字漢字", 6, "…漢字"},
		{"abc", 2, "bc"},
		{"abc", 0, ""},
		{"abc", -1, ""},
	} {
		if got := cutStart(tt.in, tt.width, "…"); got != tt.want {
			t.Errorf("cutStart(%q, %d) = %q, want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"", []string{""}},
		{"one two three", []string{"one two", "three"}},
		{"  kept indent here", []string{"  kept", "indent", "here"}},
		{"use --if-not-exists now", []string{"use", "--if-not", "-exists", "now"}},
		{"a image/with/a/long:name b", []string{"a", "image/wi", "th/a/lon", "g:name b"}},
		{"  - a/longer:one", []string{"  -", "a/longer", ":one"}},
		{"  longer/than", []string{"  longer", "/than"}},
		{"run `a b c` x", []string{"run", "`a b c`", "x"}},
		{"or (`a`, `-b`).", []string{"or (`a`,", "`-b`)."}},
		{"run `a b c d e` x", []string{"run `a b", "c d e` x"}},
		{"one ` two", []string{"one `", "two"}},
	}
	for _, tt := range tests {
		if got := Wrap(tt.in, 8); !slices.Equal(got, tt.want) {
			t.Errorf("wrap(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A command that is broken over lines is several commands for the shell that it is copied to.
func TestWrapWhole(t *testing.T) {
	for in, want := range map[string][]string{
		"run `a b c d e` x":    {"run", "`a b c d e`", "x"},
		"see (`a b c d e`). x": {"see", "(`a b c d e`).", "x"},
		"run `a b` x":          {"run", "`a b` x"},
		"one ` two words":      {"one `", "two", "words"},
		"a image/with/a":       {"a", "image/wi", "th/a"},
	} {
		if got := WrapWhole(in, 8); !slices.Equal(got, want) {
			t.Errorf("WrapWhole(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{
		"", "alice-3f9c2e1", "漢字 and ascii", "👩‍👩‍👧 family", "a\u0301\u0302", "\xff\xfe",
		"\x1b[31mred", "\x1b]0;title", "🇩🇪🇫🇷", "\u200d\u200b",
	} {
		for _, n := range []int{-1, 0, 1, 3, 7} {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		s, n = clean(s), n%300
		for _, ellipsis := range []string{"…", "..."} {
			for name, cut := range map[string]func(string, int, string) string{
				"cutEnd":    cutEnd,
				"cutMiddle": cutMiddle,
			} {
				got := cut(s, n, ellipsis)
				if Width(got) > max(n, 0) {
					t.Errorf("%s(%q, %d) = %q: %d columns", name, s, n, got, Width(got))
				}
				if !utf8.ValidString(got) {
					t.Errorf("%s(%q, %d) = %q: no valid UTF-8", name, s, n, got)
				}
				if Width(s) <= n && got != s {
					t.Errorf("%s(%q, %d) = %q: cut without need", name, s, n, got)
				}
			}
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[2A\x1b[2Kgone", "\x1b]0;title\x07after", "a\rb\tc\nd", "\x9b31m",
		"\u009b2J", "\u202eevil", "\x1bPq\x1b\\", "\x1b", "\x1b\x1b[[A",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if strings.ContainsFunc(got, func(r rune) bool {
			return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 ||
				isDirection(r)
		}) {
			t.Errorf("clean(%q) = %q", s, got)
		}
		if !utf8.ValidString(got) {
			t.Errorf("clean(%q) = %q: no valid UTF-8", s, got)
		}
		if again := clean(got); again != got {
			t.Errorf("clean(%q) = %q, and again %q", s, got, again)
		}
	})
}
