package printer

import (
	"encoding/json"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/terminal/style"
)

// writeJSON writes a document as JSON that can be shown on a terminal.
func writeJSON(w io.Writer, document any, indent string) error {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(document); err != nil {
		return err
	}
	_, err := io.WriteString(w, style.EscapeJSON(text.String()))
	return err
}

// writeYAML writes a document as YAML. One with characters that a terminal obeys and
// that YAML leaves as they are becomes JSON, where they can be escaped: that is YAML,
// too.
func writeYAML(w io.Writer, document any) error {
	var text strings.Builder
	if err := writeJSON(&text, document, "  "); err != nil {
		return err
	}
	out, err := toYAML(document, []byte(text.String()))
	if err != nil || style.IsObeyed(string(out)) {
		out = []byte(text.String())
	}
	_, err = w.Write(out)
	return err
}

// tagged is a document some of whose values have tags as YAML, which JSON has none for.
type tagged interface {
	// Tagged makes YAML of the document as JSON; nil if it has no such values.
	Tagged(text []byte) ([]byte, error)
}

func toYAML(document any, text []byte) ([]byte, error) {
	if t, ok := document.(tagged); ok {
		if out, err := t.Tagged(text); out != nil || err != nil {
			return out, err
		}
	}
	return yaml.JSONToYAML(text)
}
