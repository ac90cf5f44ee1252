package printer

import (
	"io"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
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
func PrintError(s terminal.Streams, f Format, e v1.Error) error {
	switch f.kind {
	case formatJSON, formatYAML, formatJSONL:
		return Print(s, f, &e)
	}
	_, err := io.WriteString(s.Err, style.JoinLines(wording.ErrorLines(e, s.Err.Styles())))
	return err
}
