package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berthdev/berth/internal/pattern"
)

// quantityText are the quantities that are parsed: of some length, and with an exponent of two digits. What takes
// longer to compare than to write, such as 1e2147483647, would occupy the program that compares it for hours, the API
// server included.
const quantityText pattern.Expr = `^[+-]?[0-9.]{1,30}([eE][+-]?[0-9]{1,2}|[a-zA-Z]{0,2})$`

// ParseQuantity parses a quantity of Kubernetes that can be worked with.
func ParseQuantity(text string) (resource.Quantity, error) {
	if !quantityText.MatchString(text) {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}

// measure is what a quantity measures, and so which ones make sense.
type measure struct {
	least, most string
	example     string
}

func cpu() measure    { return measure{"1m", "1024", "500m or 2"} }     // cores
func memory() measure { return measure{"4Mi", "1Ei", "512Mi or 2Gi"} }  // bytes; a shell takes more
func disk() measure   { return measure{"1Mi", "1Ei", "512Mi or 10Gi"} } // bytes

// quantity requires one that makes sense, or 0.
func quantity(report reporter, field, value string, of measure) (ok bool) {
	if value == "" {
		return true
	}
	problem := of.problem(value)
	if problem != "" {
		report("%s: %s", field, problem)
	}
	return problem == ""
}

// problem is why a quantity makes no sense, and which one is meant; empty if it does.
func (of measure) problem(value string) string {
	parsed, err := ParseQuantity(value)
	_, unit := split(value)
	switch isCPU := of == cpu(); {
	case err != nil:
		return fmt.Sprintf("invalid quantity %q: %s", shorten(value), of.instead(value))
	case parsed.Sign() < 0:
		return fmt.Sprintf("%q must not be negative", value)
	case parsed.IsZero():
		return ""
	case isCPU && unit != "" && unit != "m":
		return fmt.Sprintf("%q is not a number of cores: %s", value, of.instead(value))
	case !isCPU && (unit == "m" || unit == "u" || unit == "n"):
		return fmt.Sprintf("%q is in fractions of a byte: %s", value, of.instead(value))
	case parsed.Cmp(resource.MustParse(of.least)) < 0:
		return fmt.Sprintf("%q must be at least %s: %s", value, of.least, of.instead(value))
	case parsed.Cmp(resource.MustParse(of.most)) > 0 && isCPU:
		return fmt.Sprintf("%q must be at most %s cores: %s", value, of.most, of.instead(value))
	case parsed.Cmp(resource.MustParse(of.most)) > 0:
		return fmt.Sprintf("%q must be at most %s", value, of.most)
	}
	return ""
}

// measured is a number and a unit, as people write them.
const measured pattern.Expr = `^([0-9]+(?:\.[0-9]+)?) *([a-zA-Z]*)$`

// split takes a number and its unit apart; both are empty if it is something else.
func split(value string) (number, unit string) {
	if m := measured.FindStringSubmatch(value); m != nil && len(value) <= maxShown {
		return m[1], m[2]
	}
	return "", ""
}

// instead proposes what is meant by a quantity that makes no sense.
func (of measure) instead(value string) string {
	number, unit := split(value)
	prefix := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(unit), "b"), "i"))
	var meant []string
	switch {
	case number == "":
	case of == cpu() && prefix == "M":
		meant = []string{number + "m"}
	case of == cpu():
		meant = []string{number, number + "m"}
	case prefix == "K" || prefix == "M" || prefix == "G" || prefix == "T":
		meant = []string{number + prefix + "i", number + "Mi"}
	case of == disk():
		meant = []string{number + "Gi"}
	case len(number) > 2:
		meant = []string{number + "Mi", number + "Gi"}
	default:
		meant = []string{number + "Gi"}
	}
	for _, m := range meant {
		if m != value && of.makesSense(m) {
			return "did you mean " + m + "?"
		}
	}
	return "use one such as " + of.example
}

// makesSense reports whether a quantity is one that is not refused.
func (of measure) makesSense(value string) bool {
	parsed, err := ParseQuantity(value)
	return err == nil && parsed.Cmp(resource.MustParse(of.least)) >= 0 && parsed.Cmp(resource.MustParse(of.most)) <= 0
}

// quantities checks a value of which every text and number is a quantity, before it is parsed as what Kubernetes has
// for it.
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
		return quantity(report, field, value, disk())
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = fmt.Append(nil, value) // infinite, or not a number
	}
	return quantity(report, field, string(text), disk())
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
