package gateway

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Ending is how a gateway says on the error stream why a session has ended. Clients of
// Kubernetes are left with the message of the status that it is sent in, so that the code
// stands in front of the words, with the reason if there is one.
func Ending(err error) string {
	code := string(fault.CodeOf(err))
	if reason := fault.ReasonOf(err); reason != "" {
		code += "/" + reason
	}
	return code + ": " + fault.Line(err.Error())
}

// endingOf takes apart what Ending has put together. The error's message are the words.
func endingOf(message string) (ended *fault.Error, is bool) {
	first, words, found := strings.Cut(message, ": ")
	name, reason, _ := strings.Cut(first, "/")
	if !found {
		return nil, false
	}
	for _, row := range fault.Table() {
		for _, code := range row.Codes {
			if string(code) == name {
				return fault.New(code, "%s", words).WithReason(reason), true
			}
		}
	}
	return nil, false
}
