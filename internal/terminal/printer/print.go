// Package printer prints the documents that commands end with, in the format that
// was asked for. Results go to stdout, errors and remarks to stderr.
package printer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Print prints a document on stdout. Nothing is written if it cannot be printed
// whole.
func Print(s terminal.Streams, f Format, doc result.Kind) error {
	switch {
	case f.IsText():
		return printText(s, f, doc)
	case f.kind == formatJSONL: // a long list is never held as a whole
		b := bufio.NewWriter(s.Out)
		if err := writeJSONLines(b, doc); err != nil {
			return err
		}
		return b.Flush()
	}
	var b bytes.Buffer
	if err := write(&b, f, doc); err != nil {
		return err
	}
	text := b.String()
	if s.Out.TTY && (f.isExpression() || f.IsName()) {
		text = style.CleanText(text) // JSON and YAML escape by themselves; a script gets what is there
	}
	_, err := io.WriteString(s.Out, text)
	return err
}

// PrintNext is Print for one document of many that follow each other: JSON is one
// line, so that a reader knows where a document ends; YAML begins with its
// separator.
func PrintNext(s terminal.Streams, f Format, doc result.Kind) error {
	switch f.kind {
	case formatJSON:
		f.kind = formatJSONL
	case formatYAML:
		if _, err := io.WriteString(s.Out, "---\n"); err != nil {
			return err
		}
	}
	return Print(s, f, doc)
}

// PrintError prints an error: as the one document where the format asks for
// documents, else as text on stderr. Where a command had progress, Report decides
// whether the error is printed already.
func PrintError(s terminal.Streams, f Format, e v1.Error) error {
	if f.isDocument() {
		return Print(s, f, result.Error{Error: e})
	}
	s.Out = s.Err
	return printText(s, f, result.Error{Error: e})
}

// Report prints what a command ended with that had progress: the document if the
// format asks for one, and an error as text unless the progress has shown it. This
// is the only place where the error of such a command is printed.
func Report(s terminal.Streams, f Format, doc result.Ending, shown bool) error {
	e, failed := doc.(result.Error)
	switch {
	case shown && (f.kind == formatJSONL || failed && !f.isDocument()):
		return nil
	case failed:
		return PrintError(s, f, e.Error)
	case f.IsText():
		return nil // the summary was the text
	}
	return Print(s, f, doc)
}

// PrintNote prints a remark on stderr, beside what stdout carries.
func PrintNote(s terminal.Streams, text string) {
	fmt.Fprintln(s.Err, s.Err.Wrap(s.Err.Styles().Text(text)))
}

// PrintWarning prints a remark about something that is not as it should be.
func PrintWarning(s terminal.Streams, text string) {
	st := s.Err.Styles()
	fmt.Fprintln(s.Err, s.Err.Wrap(style.Paint(st.Yellow, "warning:")+" "+st.Text(text)))
}

// Page is what documents for people are laid out on: as wide as the terminal, and
// of unlimited width elsewhere.
func Page(s terminal.Streams, f Format) style.Page {
	p := style.Page{
		Styles: s.Out.Styles(), Width: s.Out.Width(), Room: s.Out.Room(), Wide: f.kind == formatWide,
		Now: s.Now(), Flags: s.Flags,
	}
	if !s.Out.TTY {
		p.Width = 1 << 16
	}
	return p
}

func printText(s terminal.Streams, f Format, doc result.Kind) error {
	if list, ok := doc.(interface{ Empty() string }); ok && list.Empty() != "" {
		PrintNote(s, list.Empty())
		return nil
	}
	lines, err := doc.Text(Page(s, f))
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.Out, style.JoinLines(lines))
	return err
}

// write writes a document in a format for programs.
func write(w io.Writer, f Format, doc result.Kind) error {
	switch f.kind {
	case formatJSON:
		return writeJSON(w, v1.Complete(doc), "  ")
	case formatYAML:
		return writeYAML(w, v1.Complete(doc))
	case formatName:
		named, ok := doc.(interface{ Names() []string })
		if !ok {
			return fault.New(fault.InvalidArgument, "output format name: this document has no name")
		}
		_, err := io.WriteString(w, style.JoinLines(named.Names()))
		return err
	case formatJSONPath:
		return evaluate(doc, func(data any) error { return f.path.Execute(w, data) })
	default:
		return evaluate(doc, func(data any) error { return f.template.Execute(w, data) })
	}
}

// writeJSONLines writes a document as a line, or each part of a list: a program that reads
// lines does not want to read a list first.
func writeJSONLines(w io.Writer, doc result.Kind) error {
	items := []result.Kind{doc}
	if list, ok := doc.(interface{ Items() []result.Kind }); ok {
		items = list.Items()
	}
	for _, item := range items {
		if err := writeJSONLine(w, item); err != nil {
			return err
		}
	}
	return nil
}

// JSONLine is a document as one line; one that cannot be JSON is the error.
func JSONLine(doc any) string {
	var b strings.Builder
	if err := writeJSONLine(&b, doc); err != nil {
		return err.Error() + "\n"
	}
	return b.String()
}

func writeJSONLine(w io.Writer, doc any) error {
	return writeJSON(w, v1.Complete(doc), "")
}

// evaluate runs an expression over the JSON form of a document, so that it is
// written with the names of the schema.
func evaluate(doc result.Kind, run func(any) error) error {
	b, err := json.Marshal(v1.Complete(doc))
	if err != nil {
		return err
	}
	var data any
	if err := json.Unmarshal(b, &data); err != nil {
		return err
	}
	if err := run(data); err != nil {
		return fault.New(fault.InvalidArgument, "output format: %w", err)
	}
	return nil
}
