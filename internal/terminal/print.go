package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// Print prints a command's document on stdout. Nothing is written if it cannot
// be printed whole.
func Print(s Streams, f Format, doc any) error { return printAs(s, f, doc, List{}) }

// PrintList is Print for a list of workspaces that is to look in a certain way
// where it is a table.
func PrintList(s Streams, f Format, list *v1.WorkspaceList, look List) error {
	return printAs(s, f, list, look)
}

// PrintNext is Print for one document of many that follow each other: JSON is
// one line, so that a reader knows where a document ends; YAML begins with its
// separator.
func PrintNext(s Streams, f Format, doc any) error {
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

func printAs(s Streams, f Format, doc any, look List) error {
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
		text = CleanText(text) // JSON and YAML escape by themselves; a script gets what is there
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

// writeNames writes what the documents are addressed by, one a line.
func writeNames(w io.Writer, doc any) error {
	switch d := doc.(type) {
	case *v1.Workspace:
		fmt.Fprintln(w, d.ID)
	case *v1.Deletion:
		fmt.Fprintln(w, d.ID)
	case *v1.Diagnosis:
		fmt.Fprintln(w, d.Subject)
	case *v1.WorkspaceList:
		for _, item := range d.Items {
			fmt.Fprintln(w, item.ID)
		}
	case *v1.Job:
		fmt.Fprintln(w, d.ID)
	case *v1.JobList:
		for _, item := range d.Items {
			fmt.Fprintln(w, item.ID)
		}
	case *v1.ProvisionSummary:
		for _, item := range d.Items {
			if item.Workspace != nil {
				fmt.Fprintln(w, item.ID)
			}
		}
	case *v1.DeletionSummary:
		for _, item := range d.Items {
			if item.Deletion != nil {
				fmt.Fprintln(w, item.ID)
			}
		}
	default:
		return fault.New(fault.InvalidArgument, "output format name: this document has no name")
	}
	return nil
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
func printText(s Streams, doc any, wide bool, look List) error {
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
	_, err := io.WriteString(s.Out, JoinLines(lines))
	return err
}

func versionLines(d v1.Version, st Styles) []string {
	line := "berth " + d.Version
	if d.Commit != "" {
		line += Paint(st.Grey, fmt.Sprintf(" (%s)", d.Commit))
	}
	return []string{line + Paint(st.Grey, " "+d.Platform+" "+d.GoVersion)}
}
