package cmdutil

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/style"
)

const page = `Paragraphs are written for some ninety columns, in lines that end where the writer ended them,
and go on here.

  name               what a column says, which is longer than there is room for on a narrow terminal
  an indented line that has no columns and is a good deal longer than sixty characters are

The end.`

// Nothing is lost, nothing is broken within a word, and layouts stay.
func TestReflow(t *testing.T) {
	got := reflow(page, 60)
	for line := range strings.SplitSeq(got, "\n") {
		if style.Width(line) > 60 {
			t.Errorf("%d columns: %q", style.Width(line), line)
		}
	}
	if words, want := strings.Fields(got), strings.Fields(page); strings.Join(words, " ") != strings.Join(want, " ") {
		t.Errorf("the words are %q", words)
	}
	goldentest.Check(t, "help-60.txt", got)
}
