// Package english puts words together for messages.
package english

import "fmt"

// Count is Plural for a sentence that speaks of things also if there are none: no objects,
// 1 object, 2 objects.
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
