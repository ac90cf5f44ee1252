package printer

import (
	"bufio"
	"encoding/json"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
)

// WriteJSONLine writes a document as one line.
func WriteJSONLine(out terminal.Output, doc any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(normal(doc))
}

// writeJSONLines writes a document as one line, and a list of workspaces as one
// line for each: who reads lines does not want to read a list first.
func writeJSONLines(out terminal.Output, doc any) error {
	list, ok := doc.(*v1.WorkspaceList)
	if !ok {
		return WriteJSONLine(out, doc)
	}
	buffered := bufio.NewWriter(out)
	for i := range list.Items {
		if err := WriteJSONLine(terminal.Output{Writer: buffered}, &list.Items[i]); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
