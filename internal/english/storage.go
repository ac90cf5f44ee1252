package english

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// Storage names those of the storages that were deleted, or those that were kept, with
// their capacity; it is empty without any.
func Storage(all []v1.DeletedStorage, kept bool) string {
	var names []string
	for _, s := range all {
		switch {
		case s.Kept != kept:
		case s.Capacity == "":
			names = append(names, s.Name)
		default:
			names = append(names, s.Name+" ("+s.Capacity+")")
		}
	}
	became := " deleted"
	if kept {
		became = " kept"
	}
	if len(names) == 0 {
		return ""
	}
	return "storage " + strings.Join(names, ", ") + became
}
