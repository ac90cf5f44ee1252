package userstring

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// The table of docs/identity.md says what callers are called.
func TestPageSaysWhatCallersAreCalled(t *testing.T) {
	page, err := os.ReadFile("../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| the API server says |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	if len(rows) < 8 {
		t.Fatalf("it has %d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(row, "`")
		name := cells[1]
		if strings.Contains(row, "combining") {
			name = norm.NFD.String(name)
		}
		u := UserString{User: Username(name)}
		_, shown, _ := strings.Cut(row[1:], " | ")
		if want := "`" + u.String() + "` | `" + u.ID() + "` | `" + OwnerLabel(u.User) + "` |"; shown != want {
			t.Errorf("%s: the page says\n%s\nwant\n%s", name, shown, want)
		}
	}
}
