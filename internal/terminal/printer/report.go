package printer

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
)

// Report prints the result of a command that had progress: the document if the
// format asks for one, and an error as text unless the progress has shown it. This
// is the one place in which such a command's error is printed.
func Report(s terminal.Streams, f Format, r v1.Result, shown bool) error {
	if f.kind == formatJSONL && shown {
		return nil
	}
	if r.Error != nil {
		if shown && f.kind != formatJSON && f.kind != formatYAML {
			return nil
		}
		return PrintError(s, f, *r.Error)
	}
	if f.IsText() {
		return nil // the summary was the text; who is quiet wants none
	}
	return Print(s, f, Document(r))
}
