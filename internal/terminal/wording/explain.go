package wording

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// Gist is an outcome in half a line. The message of the error names the
// workspace, which stands in the first line already.
func Gist(e v1.Error) string {
	if e.Workspace == nil {
		return news(e)
	}
	s := e.Workspace.Snapshot
	why := s.Message
	if s.Cause != nil && s.Cause.Message != "" {
		why = CauseText(*s.Cause) // also a tentative one: nothing will be known beyond it
	}
	switch {
	case isFailed(e) && s.Cause != nil && s.Cause.Message != "":
		return why
	case isFailed(e):
		return e.Message
	case why != "":
		return "still " + string(s.Stage) + ": " + why + IgnoredText(s.Ignored)
	case s.Stage == "" || s.Stage == v1.StageUnknown:
		return news(e) // a stage that says nothing
	default:
		return "still " + string(s.Stage)
	}
}

// news is what the message says beyond how it ended and after what time: that
// is the headline's first half.
func news(e v1.Error) string {
	switch {
	case IsInterrupt(e):
		rest := strings.TrimPrefix(e.Message, "interrupted")
		return strings.TrimLeft(rest, ": ")
	case strings.HasPrefix(e.Message, "timed out after "):
		_, rest, _ := strings.Cut(e.Message, ": ")
		return rest
	}
	return e.Message
}

// Lasting is the cause that is shown to people, nil while it may be that of a
// moment. Documents have it from the start.
func Lasting(c *v1.Cause) *v1.Cause {
	if c != nil && c.Tentative {
		return nil
	}
	return c
}

// CauseOrMessage is why a workspace is where it is, as well as that is known.
func CauseOrMessage(s v1.Snapshot) string {
	if c := Lasting(s.Cause); c != nil && c.Message != "" {
		return CauseText(*c)
	}
	return s.Message
}

// IgnoredText names the causes that do not count because somebody said so.
func IgnoredText(codes []string) string {
	if len(codes) == 0 {
		return ""
	}
	return "; ignored on request: " + strings.Join(codes, ", ")
}

// Beyond is the message if it says more than the gist of it: the name of the
// workspace in front of the gist is nothing more, whatever follows it is.
func Beyond(e v1.Error, what string) []string {
	message := strings.TrimRight(news(e), ". \n")
	if message == "" {
		return nil
	}
	known := []string{what, strings.TrimPrefix(what, "still ")}
	if e.Workspace != nil && e.Workspace.Cause != nil {
		known = append(known, e.Workspace.Cause.Message+IgnoredText(e.Workspace.Ignored))
	}
	for _, k := range known {
		if k != "" && strings.HasSuffix(message, strings.TrimRight(k, ". \n")) {
			return nil
		}
	}
	return []string{news(e)}
}
