package pagetest

import (
	"regexp"
	"strings"
)

// What differs from run to run. Canonical IDs do not.
var (
	instant  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	uuid     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	duration = regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s|m|h|d))+\b`)
	gap      = regexp.MustCompile(` +`) // columns are as wide as what is in them
)

// Matches reports whether a command has printed what its page shows. Times,
// durations and the IDs of jobs are those of another run. In a line, … stands for
// anything; a line that is nothing else stands for any number of lines.
func Matches(shows, got string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(normal(shows)) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(normal(got))
}

func normal(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = instant.ReplaceAllLiteralString(line, "INSTANT")
		line = uuid.ReplaceAllLiteralString(line, "UUID")
		line = duration.ReplaceAllLiteralString(line, "DURATION")
		b.WriteString(strings.TrimSpace(gap.ReplaceAllLiteralString(line, " ")) + "\n")
	}
	return b.String()
}
