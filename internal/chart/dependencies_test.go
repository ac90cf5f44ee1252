package chart

import (
	"fmt"
	"slices"
	"testing"

	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/berthdev/berth/internal/chart/chartutil"
)

// A subchart is wanted unless all of its tags that have a value are false, and by the first of its conditions that has
// one. What is neither true nor false does not count, and is warned of.
func TestWhetherASubchartIsWanted(t *testing.T) {
	values := chartutil.Values{
		"tags": map[string]any{"on": true, "off": false, "text": "true"},
		"db":   map[string]any{"enabled": false, "wanted": "yes"},
	}
	for name, test := range map[string]struct {
		tags      []string
		condition string
		want      bool
		warnings  []string
	}{
		"neither":           {nil, "", true, nil},
		"a tag":             {[]string{"on"}, "", true, nil},
		"a tag that is off": {[]string{"off"}, "", false, nil},
		"one of two":        {[]string{"off", "on"}, "", true, nil},
		"an unknown tag":    {[]string{"other"}, "", true, nil},
		"a text": {[]string{"text"}, "", true, []string{
			"values: tags.text of subchart db is neither true nor false",
		}},
		"a condition":      {[]string{"on"}, "db.enabled", false, nil},
		"the second one":   {[]string{"off"}, "db.other,db.enabled", false, nil},
		"none has a value": {[]string{"off"}, "db.other", false, nil},
		"a condition that is a text": {nil, "db.wanted", true, []string{
			"values: db.wanted, the condition of subchart db, is neither true nor false",
		}},
	} {
		var warnings []string
		d := dependencies{warn: func(format string, args ...any) {
			warnings = append(warnings, fmt.Sprintf(format, args...))
		}}
		db := &helmchart.Dependency{Name: "db", Tags: test.tags, Condition: test.condition}
		if got := d.condition(db, values, "", d.tags(db, values)); got != test.want ||
			!slices.Equal(warnings, test.warnings) {
			t.Errorf("%s: %t, %q", name, got, warnings)
		}
	}
	if d := (dependencies{}); !d.tags(&helmchart.Dependency{Tags: []string{"off"}}, chartutil.Values{}) {
		t.Error("values without tags")
	}
}
