package dump

import (
	"bytes"
	"strings"

	"github.com/berthdev/berth/internal/pattern"
)

// form is what a text is; one that has no objects is told as it is described.
type form string

const (
	formObjects  form = "objects"
	formEmpty    form = "empty"
	formBinary   form = "not text"
	formTable    form = "a table, as kubectl get prints it without -o yaml"
	formDescribe form = "the output of kubectl describe: kubectl get -o yaml has all of it"
	formOther    form = "no Kubernetes objects in YAML or JSON"
)

// formOf looks at how a text begins.
func formOf(text []byte) form {
	trimmed := bytes.TrimSpace(text)
	head := trimmed[:min(len(trimmed), headSize)]
	switch {
	case len(trimmed) == 0:
		return formEmpty
	case bytes.IndexByte(head, 0) >= 0:
		return formBinary
	case isJSON(head) && objectsJSON.Match(head), objectsYAML.Match(head):
		return formObjects
	case table.Match(head):
		return formTable
	case described.Match(head):
		return formDescribe
	}
	return formOther
}

// isJSON is false for lines of a log that begin with [INFO].
func isJSON(text []byte) bool { return beginsJSON.Match(text[:min(len(text), headSize)]) }

const (
	beginsJSON pattern.Expr = `^(?:\s|---[ \t]*\r?\n|#.*\n)*(?:\{|\[\s*[{\[\]])`
	// Logs can be JSON, too.
	objectsJSON pattern.Expr = `"(?:kind|apiVersion|items|object)"\s*:`
	// Keys may be quoted, and what is an item may begin on the next line.
	objectsYAML pattern.Expr = `(?m)^(?:-\s+)?["']?(?:apiVersion|kind|items|metadata|object)["']?:(?:\s|$)`
	table       pattern.Expr = `^(?:NAMESPACE|NAME|LAST SEEN) {2,}[A-Z]`
	described   pattern.Expr = `^Name: {2,}\S`
)

// remark is a line that kubectl has put among the objects, or who saved them.
type remark struct {
	line    int
	text    string
	refusal bool // something is missing
}

// withoutRemarks empties the lines that are not part of any object: what kubectl says
// on stderr, the logs that cluster-info dump prints between lists, the fences of
// Markdown. Such a line begins in the first column, where objects have nothing but
// their keys and brackets.
func withoutRemarks(text []byte) (objects []byte, remarks []remark) {
	if !remarked.Match(text) {
		return text, nil
	}
	objects = make([]byte, 0, len(text))
	inLog, n := false, 0
	for line := range bytes.Lines(text) {
		n++
		match := remarked.FindSubmatch(line)
		log := inLog || bytes.HasPrefix(line, []byte("==== START logs"))
		if log {
			inLog = !bytes.HasPrefix(line, []byte("==== END logs"))
		}
		if !log && match == nil {
			objects = append(objects, line...)
			continue
		}
		objects = append(objects, '\n')
		if said := strings.TrimSpace(string(line)); !log && !strings.HasPrefix(said, "```") {
			remarks = append(remarks, remark{n, said, match[1] != nil})
		}
	}
	return objects, remarks
}

const remarked pattern.Expr = "(?m)^(?:" +
	"(Error from server|error: |Unable to connect to the server|The connection to the server )|" +
	"Warning: |No resources found|[EFIW][0-9]{4} [0-9:.]{8}|```|==== (?:START|END) logs )"
