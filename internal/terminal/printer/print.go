// Package printer prints the documents that commands end with, in the format that
// was asked for. Results go to stdout, errors and remarks to stderr.
package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Print prints a command's document on stdout. Nothing is written if it cannot
// be printed whole.
func Print(s terminal.Streams, f Format, doc any) error { return printAs(s, f, doc, List{}) }

// PrintList is Print for a list of workspaces that is to look in a certain way
// where it is a table.
func PrintList(s terminal.Streams, f Format, list *v1.WorkspaceList, look List) error {
	return printAs(s, f, list, look)
}

// PrintNext is Print for one document of many that follow each other: JSON is
// one line, so that a reader knows where a document ends; YAML begins with its
// separator.
func PrintNext(s terminal.Streams, f Format, doc any) error {
	switch f.kind {
	case formatJSON, formatJSONL:
		return WriteJSONLine(s.Out, doc)
	case formatYAML:
		if _, err := io.WriteString(s.Out, "---\n"); err != nil {
			return err
		}
	}
	return Print(s, f, doc)
}

func printAs(s terminal.Streams, f Format, doc any, look List) error {
	doc = normal(doc)
	var b bytes.Buffer
	var err error
	switch f.kind {
	case formatJSON:
		err = writeJSON(&b, doc)
	case formatYAML:
		err = writeYAML(&b, doc)
	case formatJSONL:
		return writeJSONLines(s.Out, doc)
	case formatName:
		err = writeNames(&b, doc)
	case formatJSONPath:
		err = evaluate(doc, func(data any) error { return f.path.Execute(&b, data) })
	case formatTemplate:
		err = evaluate(doc, func(data any) error { return f.template.Execute(&b, data) })
	default:
		return printText(s, doc, f.kind == formatWide, look)
	}
	if err != nil {
		return err
	}
	text := b.String()
	if s.Out.TTY && (f.kind == formatJSONPath || f.kind == formatTemplate) {
		text = style.CleanText(text) // JSON and YAML escape by themselves; a script gets what is there
	}
	_, err = io.WriteString(s.Out, text)
	return err
}

func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

func writeYAML(w io.Writer, doc any) error {
	b, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// evaluate runs an expression over the JSON form of a document, so that it is
// written with the names of the schema.
func evaluate(doc any, run func(any) error) error {
	b, err := json.Marshal(doc)
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

// printText prints a document for people. One that has no form of its own is
// printed as YAML, which is the next most readable.
func printText(s terminal.Streams, doc any, wide bool, look List) error {
	st := s.Out.Styles()
	var lines []string
	switch d := doc.(type) {
	case *v1.WorkspaceList:
		if len(d.Items) == 0 {
			_, err := fmt.Fprintln(s.Err, "no workspaces")
			return err
		}
		lines = ListLines(d.Items, wide, look, s.Out, st, s.Now())
	case *v1.Workspace:
		lines = WorkspaceLines(*d, wide, s, st)
	case *v1.Diagnosis:
		lines = diagnosisLines(*d, s, st)
	case *v1.Checkup:
		lines = checkupLines(*d, s.Out, st)
	case *v1.Job:
		lines = jobLines(*d, s, st)
	case *v1.JobList:
		if len(d.Items) == 0 {
			_, err := fmt.Fprintln(s.Err, "no jobs")
			return err
		}
		lines = jobsLines(d.Items, wide, s, st)
	case *v1.Deletion:
		lines = []string{st.Text(d.ID) + " deleted"}
	case *v1.Version:
		lines = versionLines(*d, st)
	case *v1.Error:
		return PrintError(s, Format{}, *d)
	default:
		return writeYAML(s.Out, doc)
	}
	_, err := io.WriteString(s.Out, style.JoinLines(lines))
	return err
}

func versionLines(d v1.Version, st style.Styles) []string {
	line := "berth " + d.Version
	if d.Commit != "" {
		line += style.Paint(st.Grey, fmt.Sprintf(" (%s)", d.Commit))
	}
	return []string{line + style.Paint(st.Grey, " "+d.Platform+" "+d.GoVersion)}
}
