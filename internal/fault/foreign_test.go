package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"
)

type named string

type stringer struct{ text string }

func (s stringer) String() string { return s.text }

// What comes from elsewhere adds no line to a message, and does not fill it.
func TestForeignTextIsALine(t *testing.T) {
	const two = "bob\nerror: all is lost\r\nhint: curl evil\u2028x\u0085y"
	const one = "bob error: all is lost hint: curl evil x y"
	long := strings.Repeat("9", 100_000)
	for name, test := range map[string]struct {
		err  *Error
		want string
	}{
		"a text":             {New(Conflict, "held by %s", two), "held by " + one},
		"quoted":             {New(Conflict, "held by %q", "a\nb"), `held by "a\nb"`},
		"a type of texts":    {New(Conflict, "held by %s", named(two)), "held by " + one},
		"several":            {New(Conflict, "held by %v", []string{two, "x"}), "held by [" + one + " x]"},
		"what can say it":    {New(Conflict, "held by %s", stringer{two}), "held by " + one},
		"an error":           {New(Conflict, "held: %w", errors.New(two)), "held: " + one},
		"one of ours":        {New(Conflict, "held: %w", New(NotFound, "first\n  second")), "held: first\n  second"},
		"what is not a text": {New(Conflict, "%d in %s of %5.1f%%", 3, time.Second, 2.5), "3 in 1s of   2.5%"},
		"with a width":       {New(Conflict, "[%-8s]", "a\nb"), "[a b     ]"},
		"a long text":        {New(Conflict, "port %s", long), "port " + long[:maxArgument] + "… (100000 bytes)"},
		"a long one, quoted": {New(Conflict, "port %q", long), `port "` + long[:maxArgument] + `… (100000 bytes)"`},
		"a long error":       {New(Conflict, "%w", errors.New(long)), long[:maxArgument] + "… (100000 bytes)"},
		"a detail":           {New(Conflict, "timed out").WithDetail(two), "timed out: " + one},
		"an unexpected one":  {From(errors.New(two)), one},
	} {
		if test.err.Message != test.want {
			t.Errorf("%s: %q, want %q", name, test.err.Message, test.want)
		}
	}
	if hint := New(Conflict, "x").WithHint("ask %s:\n  about it", two).Hint; hint != "ask "+one+":\n  about it" {
		t.Errorf("%q", hint)
	}
	odd := fmt.Errorf("a\nb: %w", fs.ErrNotExist)
	if err := New(NotFound, "file: %w", odd); err.Err != odd || //nolint:errorlint // this very one
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is lost: %v", odd, err.Err)
	}
	if got := Shorten("aé", 2); got != "a… (3 bytes)" {
		t.Errorf("%q", got)
	}
}
