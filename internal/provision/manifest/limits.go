package manifest

import (
	"encoding/json"

	"github.com/berthdev/berth/internal/blueprint"
)

// limitsValue is the value of the chart in which the limits of the blueprint are kept. The
// chart makes nothing of it: it is there for programs that adopt the workspace by its record.
const limitsValue = "limits"

// LimitsIn are the limits of the blueprint that values of the chart were made of. What
// cannot be read limits nothing.
func LimitsIn(values map[string]any) (l blueprint.Limits) {
	text, err := json.Marshal(values[limitsValue])
	if err != nil || json.Unmarshal(text, &l) != nil || len(l.Validate()) > 0 {
		return blueprint.Limits{}
	}
	return l
}
