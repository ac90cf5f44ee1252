package dump

import (
	"bytes"

	"golang.org/x/text/encoding/unicode"

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
	text, remarks := withoutRemarks(utf8Text(raw))
	f := formOf(text)
	for _, m := range remarks {
		if m.refusal || f == formEmpty {
			r.problem(s.file, m.line, "%s", m.text)
		}
	}
	switch {
	case f == formObjects, f == formOther && isJSON(text): // which says what is wrong with it
		r.documents(s.file, text)
	case f == formEmpty && len(remarks) > 0: // which say why
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
