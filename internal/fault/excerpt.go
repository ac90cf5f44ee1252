package fault

import "strings"

// CutExcerpt takes a problem apart: the line that it is about may follow it, with a mark below
// at the place.
func CutExcerpt(text string) (problem, excerpt string) {
	lines := strings.Split(text, "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "  ") || !strings.HasPrefix(strings.TrimLeft(lines[2], " "), "^") {
		return text, ""
	}
	return lines[0], lines[1] + "\n" + lines[2]
}

// CutExcerpts takes problems apart: as many excerpts, or none if no problem has one.
func CutExcerpts(texts []string) (problems, excerpts []string) {
	some := false
	for _, text := range texts {
		problem, excerpt := CutExcerpt(text)
		problems, excerpts = append(problems, problem), append(excerpts, excerpt)
		some = some || excerpt != ""
	}
	if !some {
		return problems, nil
	}
	return problems, excerpts
}
