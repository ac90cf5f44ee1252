package terminal

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSONLinesTranscript(t *testing.T) {
	for name, s := range map[string]*Script{"success": Succeeding(), "image-not-found": ImageNotFound(), "deleted": Deleted(true)} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := told(t, s, ModeJSONL)
			if stderr != "" {
				t.Errorf("on stderr: %q", stderr)
			}
			Golden(t, "jsonl/"+name+".jsonl", stdout)
		})
	}
}

// The last line is what --output json prints.
func TestLastJSONLineIsTheDocument(t *testing.T) {
	for name, s := range map[string]*Script{"Workspace": Succeeding(), "Error": CrashLoop(), "Deletion": Deleted(true)} {
		stdout, _ := told(t, s, ModeJSONL)
		var last string
		for sc := bufio.NewScanner(strings.NewReader(stdout)); sc.Scan(); {
			last = sc.Text()
		}
		streams, b := Test("", T0)
		events := s.Through()
		if err := Print(streams, format(t, "json"), Document(*events[len(events)-1].Result)); err != nil {
			t.Fatal(err)
		}
		var want, got map[string]any
		if err := json.Unmarshal(b.Out.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(last), &got); err != nil {
			t.Fatal(err)
		}
		if got["kind"] != name || got["apiVersion"] != "berth.dev/v1" {
			t.Errorf("last line is %v/%v, want a %s", got["apiVersion"], got["kind"], name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-json +jsonl):\n%s", name, diff)
		}
	}
}

func format(t *testing.T, s string) Format {
	t.Helper()
	f, err := ParseFormat(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
