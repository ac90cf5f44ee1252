package source_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// A text of a URL is kept if it is made of objects. Of any other the error says nothing.
func TestTextOfURL(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, test := range map[string]struct {
		text string
		kept bool
	}{
		"an object":                   {object, true},
		"several, with a comment":     {"# of a release\n---\n" + object + "---\n" + object, true},
		"JSON":                        {`{"apiVersion": "v1", "kind": "ConfigMap"}`, true},
		"JSON, one after the other":   {`{"apiVersion": "v1", "kind": "A"} {"apiVersion": "v1", "kind": "B"}`, true},
		"JSON and something else":     {`{"apiVersion": "v1", "kind": "A"} {"kind": "hunter2"}`, false},
		"JSON with other letters":     {`{"ApiVersion": "v1", "Kind": "hunter2"}`, false},
		"a byte order mark":           {"\ufeff" + object, true},
		"a kind without a value":      {"apiVersion: v1\nkind:\n", false},
		"a list":                      {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret}\n", true},
		"text":                        {"hunter2\n", false},
		"several lines":               {"role: hunter2\nzone\n", false},
		"an answer of another server": {`{"AccessKeyId": "hunter2", "Token": "hunter2"}`, false},
		"one document of two":         {object + "---\nkind: hunter2\n", false},
		"no YAML":                     {"a: [hunter2\n", false},
		"a kind that is no text":      {"apiVersion: v1\nkind: [hunter2]\n", false},
		"nothing but a comment":       {"# hunter2\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(test.text)) })
			c, _, err := newFetcher(t).Fetch(t.Context(), overHTTP(url+"/a.yaml", nil))
			if err == nil {
				_ = c.Close()
			}
			if (err == nil) != test.kept {
				t.Fatal(err)
			}
			if err != nil && (fault.CodeOf(err) != fault.InvalidArgument ||
				!strings.Contains(err.Error(), "neither an archive nor YAML of Kubernetes objects") ||
				strings.Contains(err.Error(), "hunter2")) {
				t.Error(err)
			}
		})
	}
}
