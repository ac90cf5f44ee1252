// Package english puts words together for messages.
package english

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// Count is Plural for a sentence that speaks of things also if there are none: no objects, 1 object, 2 objects.
func Count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return Plural(n, noun)
}

// Plural counts things: 1 object, 2 objects.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Storage names those of the storages that were deleted, or those that were kept, with their capacity; it is empty
// without any.
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
