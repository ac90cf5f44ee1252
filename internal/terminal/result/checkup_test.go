package result_test

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

func TestCheckup(t *testing.T) {
	streams, written := terminal.Test("", time.Time{})
	checkup := v1.Checkup{Items: []v1.CheckupItem{
		{Name: "cluster", Status: v1.CheckupOK, Message: "Kubernetes v1.36.3"},
		{
			Name: "permissions", Status: v1.CheckupWarning, Message: "less than all",
			Problems: []string{"missing: get pods/log"}, Hint: "ask for the Role",
		},
		{Name: "quotas", Status: v1.CheckupFailed, Message: "used up\x1b[31m", Hint: "delete"},
		{Name: "nodes", Status: v1.CheckupSkipped, Message: "you may not"},
	}}
	if err := printer.Print(streams, printer.Format{}, result.Checkup{Checkup: checkup}); err != nil {
		t.Fatal(err)
	}
	want := `✔ cluster      Kubernetes v1.36.3
▲ permissions  less than all
               - missing: get pods/log
               → ask for the Role
✘ quotas       used up
               → delete
■ nodes        you may not

1 ok, 1 warning, 1 failed, 1 skipped
`
	if got := written.Out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
