package job

import (
	"testing"
	"time"
)

// How long records are kept, as it is configured, as it is meant, and as it is printed.
func TestRetention(t *testing.T) {
	for text, c := range map[string]struct {
		keep    time.Duration
		printed string
		ok      bool
	}{
		"":         {48 * time.Hour, "48h", true},
		"1m":       {time.Minute, "1m0s", true},
		"59.9s":    {59900 * time.Millisecond, "59.9s", false},
		"90m":      {90 * time.Minute, "1h30m0s", true},
		"60m":      {time.Hour, "1h", true},
		"87600h":   {87600 * time.Hour, "87600h", true},
		"87600h1s": {87600*time.Hour + time.Second, "87600h0m1s", false},
		"tomorrow": {48 * time.Hour, "48h", false},
	} {
		config := Config{Retention: text}
		if got := config.Keep(); got != c.keep || FormatRetention(got) != c.printed {
			t.Errorf("%q: kept for %s, printed as %s", text, got, FormatRetention(got))
		}
		if problems := config.Problems(); (len(problems) == 0) != c.ok {
			t.Errorf("%q: %q", text, problems)
		}
	}
}
