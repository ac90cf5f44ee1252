package terminal

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// gist is an outcome in half a line. The message of the error names the
// workspace, which stands in the first line already.
func gist(e v1.Error) string {
	if e.Workspace == nil {
		return e.Message
	}
	s := e.Workspace.Snapshot
	if fault.Code(e.Code) == fault.Failed {
		if s.Cause != nil && s.Cause.Message != "" {
			return causeText(*s.Cause)
		}
		return e.Message
	}
	if s.Stage == "" {
		return e.Message
	}
	if why := causeOrMessage(s); why != "" {
		return "still " + string(s.Stage) + ": " + why
	}
	return "still " + string(s.Stage)
}

func causeOrMessage(s v1.Snapshot) string {
	if s.Cause != nil && s.Cause.Message != "" {
		return causeText(*s.Cause)
	}
	return s.Message
}

// explanation is what the headline leaves out: the message if it says more, the
// single problems, the hint.
func explanation(e v1.Error, what string, v view) []string {
	var blocks [][]string
	for _, text := range beyond(e, what) {
		blocks = append(blocks, v.st.paragraphs(text))
	}
	var problems []string
	for _, p := range e.Problems {
		problems = append(problems, "- "+v.st.text(p))
	}
	blocks = append(blocks, problems, v.st.paragraphs(e.Hint))
	var lines []string
	for _, b := range blocks {
		if len(b) > 0 {
			lines = append(lines, "")
			lines = append(lines, indent(b, v)...)
		}
	}
	return lines
}

// beyond is the message if it says more than the gist of it: the name of the
// workspace in front of the gist is nothing more, whatever follows it is.
func beyond(e v1.Error, what string) []string {
	message := strings.TrimRight(e.Message, ". \n")
	known := []string{what, strings.TrimPrefix(what, "still ")}
	if e.Workspace != nil && e.Workspace.Cause != nil {
		known = append(known, e.Workspace.Cause.Message)
	}
	for _, k := range known {
		if k != "" && strings.HasSuffix(message, strings.TrimRight(k, ". \n")) {
			return nil
		}
	}
	return []string{e.Message}
}
