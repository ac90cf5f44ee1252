package topics

import (
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/rbac"
)

// The topics are pages to read: none of them runs anything.
func TestTopics(t *testing.T) {
	pages := map[string]string{}
	for _, page := range New() {
		if page.Runnable() || !page.IsAdditionalHelpTopicCommand() || page.Short == "" || page.Long == "" {
			t.Errorf("%s is not a page", page.Name())
		}
		pages[page.Name()] = page.Long
	}
	for _, row := range fault.Table() {
		for _, code := range row.Codes {
			if !strings.Contains(pages["exit-codes"], string(code)) {
				t.Errorf("exit-codes does not explain %s", code)
			}
		}
	}
	for _, command := range slices.Concat(rbac.Commands(), rbac.Elsewhere(), rbac.Machines(), rbac.Bundles(),
		rbac.Volumes(), rbac.Serving()) {
		if !strings.Contains(pages["rbac"], "\n"+command.Name) {
			t.Errorf("rbac does not explain %s", command.Name)
		}
	}
}
