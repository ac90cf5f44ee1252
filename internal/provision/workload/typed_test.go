package workload

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// A workload that the API server has and nobody can read is an error of its author.
func TestTyped(t *testing.T) {
	web := userstring.Workload{Kind: "deployment", Name: "web"}
	for name, test := range map[string]struct {
		object map[string]any
		there  bool
		code   fault.Code
	}{
		"gone":       {nil, false, ""},
		"plain":      {map[string]any{"metadata": map[string]any{"name": "web"}}, true, ""},
		"unreadable": {map[string]any{"spec": "none"}, false, fault.Internal},
	} {
		object, err := (&Workload{Ref: web, Object: test.object}).Typed()
		if (object != nil) != test.there || fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v, %v", name, object, err)
		}
	}
}

// The selector of a workload selects its pods, and is to be read, too.
func TestPodSelector(t *testing.T) {
	for name, test := range map[string]struct {
		selector any
		want     string
		fails    bool
	}{
		"plain":      {map[string]any{"matchLabels": map[string]any{"app": "web"}}, "app=web", false},
		"unreadable": {map[string]any{"matchLabels": "none"}, "", true},
		"invalid":    {map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Like"}}}, "", true},
	} {
		selector, err := (&Workload{Object: map[string]any{"spec": map[string]any{"selector": test.selector}}}).PodSelector()
		if (err != nil) != test.fails || err == nil && selector.String() != test.want {
			t.Errorf("%s: %v, %v", name, selector, err)
		}
	}
}
