// Package english puts words together for messages.
package english

import "fmt"

// Plural counts things: 1 object, 2 objects.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
