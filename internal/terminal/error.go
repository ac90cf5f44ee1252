package terminal

import (
	"fmt"
	"io"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// ErrorDocument is the document of an error.
func ErrorDocument(err error) v1.Error {
	f := fault.From(err)
	return v1.Error{
		TypeMeta:   v1.Kind(v1.KindError),
		Code:       string(f.Code),
		Reason:     f.Reason,
		ExitStatus: f.Code.Exit(),
		Message:    f.Message,
		Hint:       f.Hint,
		Problems:   f.Problems,
	}
}

// PrintError prints an error: as the one document where the format asks for
// documents, else as text on stderr. Where a command had progress, Report
// decides whether the error is printed already.
func PrintError(s Streams, f Format, e v1.Error) error {
	switch f.kind {
	case formatJSON, formatYAML, formatJSONL:
		return Print(s, f, &e)
	}
	_, err := io.WriteString(s.Err, joinLines(errorLines(e, newStyles(s.Err.Capabilities))))
	return err
}

// errorLines are an error in one glance: what, why, what now. They are not
// wrapped, so that they can be searched for.
func errorLines(e v1.Error, st styles) []string {
	message := st.paragraphs(e.Message)
	if len(message) == 0 {
		message = []string{"unknown error"}
	}
	last := len(message) - 1
	message[last] = fmt.Sprintf("%s (%s)", message[last], e.Code)
	lines := labelled(paint(st.red, "error:")+" ", message)
	for _, p := range e.Problems {
		lines = append(lines, "       - "+st.text(p))
	}
	return append(lines, labelled(paint(st.grey, "hint:")+"  ", st.paragraphs(e.Hint))...)
}

// labelled puts a label before the first line and blanks before the others.
func labelled(label string, texts []string) []string {
	lines := make([]string, 0, len(texts))
	for _, t := range texts {
		lines = append(lines, label+t)
		label = strings.Repeat(" ", width(label))
	}
	return lines
}

// joinLines ends every line with a newline.
func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
