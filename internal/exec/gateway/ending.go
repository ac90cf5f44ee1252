package gateway

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Ending is how a gateway says on the error stream why a session has ended. Clients of
// Kubernetes are left with the message of the status that it is sent in, so that the code
// stands in front of the words.
func Ending(err error) string { return string(fault.CodeOf(err)) + ": " + fault.Line(err.Error()) }

// endingOf takes apart what Ending has put together.
func endingOf(message string) (code fault.Code, words string, is bool) {
	first, words, found := strings.Cut(message, ": ")
	if !found {
		return "", "", false
	}
	for _, row := range fault.Table() {
		for _, code := range row.Codes {
			if string(code) == first {
				return code, words, true
			}
		}
	}
	return "", "", false
}
