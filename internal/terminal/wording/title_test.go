package wording_test

import (
	"testing"

	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestLocatedHints(t *testing.T) {
	title := wording.Title{Flags: []string{"-n t1", "--context x"}}
	for hint, want := range map[string]string{
		"see `berth ssh --help`": "see `berth ssh --help`",
		"":                       "",
		"enter it with `berth exec alice`, or pass --if-not-exists": "enter it with `berth exec alice -n t1 " +
			"--context x`, or pass --if-not-exists",
		"`kubectl get pods` and `berth status` tell": "`kubectl get pods` and `berth status -n t1 " +
			"--context x` tell",
		"`berth delete id/a --namespace t2`":              "`berth delete id/a --namespace t2 --context x`",
		"`berth help rbac` and `berth explain OOMKilled`": "`berth help rbac` and `berth explain OOMKilled`",
		"`berth status --all-namespaces`":                 "`berth status --all-namespaces --context x`",
		"an odd ` berth sign":                             "an odd ` berth sign",
	} {
		if got := title.Located(hint); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
		if got := terminaltest.Alice.Located(hint); got != hint {
			t.Errorf("%q without flags: %q", hint, got)
		}
	}
}
