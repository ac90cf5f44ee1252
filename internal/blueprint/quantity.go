package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The upper bounds of quantities.
const (
	maxCPU  = "1M"  // cores
	maxSize = "1Ei" // bytes, of memory and of disks
)

// quantityText are the quantities that are parsed: of some length, and with an
// exponent of two digits. What takes longer to compare than to write, such as
// 1e2147483647, would occupy whoever compares it for hours, the API server included.
var quantityText = regexp.MustCompile(`^[+-]?[0-9.]{1,30}([eE][+-]?[0-9]{1,2}|[a-zA-Z]{0,2})$`)

// ParseQuantity parses a quantity of Kubernetes that can be worked with.
func ParseQuantity(text string) (resource.Quantity, error) {
	if !quantityText.MatchString(text) {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}

// quantity requires one from 0 to a bound.
func quantity(report reporter, field, value, most string) (ok bool) {
	if value == "" {
		return true
	}
	switch parsed, err := ParseQuantity(value); {
	case err != nil:
		report("%s: invalid quantity %q: use one such as 500m, 2, 512Mi, 10Gi", field, shorten(value))
	case parsed.Sign() < 0:
		report("%s: %q must not be negative", field, value)
	case parsed.Cmp(resource.MustParse(most)) > 0:
		report("%s: %q must be at most %s", field, value, most)
	default:
		return true
	}
	return false
}

// quantities checks a value of which every text and number is a quantity, before it
// is parsed as what Kubernetes has for it.
func quantities(report reporter, field string, value any) (ok bool) {
	switch value := value.(type) {
	case map[string]any:
		ok = true
		for _, key := range slices.Sorted(maps.Keys(value)) {
			ok = quantities(report, field+"."+key, value[key]) && ok
		}
		return ok
	case nil, bool, []any:
		return true // they do not fit there, which is found when it is parsed
	case string:
		return quantity(report, field, value, maxSize)
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = fmt.Append(nil, value) // infinite, or not a number
	}
	return quantity(report, field, string(text), maxSize)
}

// maxShown is how much of a value is shown, to recognize it.
const maxShown = 60 // characters

// shorten shortens a value for a message.
func shorten(value string) string {
	if len(value) <= maxShown {
		return value
	}
	return strings.ToValidUTF8(value[:maxShown], "") + "…"
}
