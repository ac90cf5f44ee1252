package dump

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding/unicode"

	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/yamldoc"
)

// text reads a file that is not packed. Of one among others no more is read than its
// head, if that has no objects.
func (r *reader) text(s source, head []byte) {
	start, _ := withoutRemarks(utf8Text(head))
	if f := formOf(start); s.among && (f == formOther || f == formBinary) {
		r.others = append(r.others, s.file)
		return
	}
	raw, err := r.all(s.head)
	if err != nil {
		r.broken(s.file, err)
		return
	}
	if r.used.text += int64(len(raw)); r.used.text > r.limits.text {
		r.exceed("%s of text, up to %s", size(r.limits.text), s.file)
		return
	}
	whole := utf8Text(raw)
	hasLogs := r.sections(s.file, whole)
	text, remarks := withoutRemarks(whole)
	f := formOf(text)
	for _, m := range remarks {
		if m.refusal || f == formEmpty {
			r.problem(s.file, m.line, "%s", m.text)
		}
	}
	switch {
	case f == formObjects, f == formOther && isJSON(text): // which says what is wrong with it
		r.documents(s.file, text)
	case f == formEmpty && (len(remarks) > 0 || hasLogs): // which say why, or are what it has
	default:
		r.problem(s.file, 0, "%s", f)
	}
}

// utf8Text is a text in UTF-8 without a byte order mark, whatever it was written in:
// PowerShell redirects to files in UTF-16.
func utf8Text(raw []byte) []byte {
	order, sixteen := unicode.LittleEndian, true
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order = unicode.BigEndian
	case len(raw) > 1 && raw[0] != 0 && raw[1] == 0: // the first character is one of ASCII
	case len(raw) > 1 && raw[0] == 0 && raw[1] != 0:
		order = unicode.BigEndian
	default:
		sixteen = false
	}
	if sixteen {
		if text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(raw); err == nil {
			return text
		}
	}
	return bytes.ToValidUTF8(bytes.TrimPrefix(raw, []byte("\ufeff")), []byte("\ufffd"))
}

// documents reads the documents of a text: of YAML, or of JSON.
func (r *reader) documents(file string, text []byte) {
	left := r.limits.problems
	for before, document := range yamldoc.Documents(text) {
		known, at := len(r.problems), place{file, before + 1}
		if isJSON(document) {
			r.json(at, document, known+left)
		} else {
			r.yaml(at, document, known+left)
		}
		if left -= len(r.problems) - known; left <= 0 {
			r.problem(file, 0, "more problems follow: the rest was not read")
			return
		}
		if r.exceeded != nil {
			return
		}
	}
}

// place is a line of a file.
type place struct {
	file string
	line int
}

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
