package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/watch/cause"
)

// Causes are the names of causes, for completion: each code with what it means, and
// each of Kubernetes' own reasons with the codes that it may be.
func Causes(*cobra.Command) (names []cobra.Completion, err error) {
	meant := map[string][]string{}
	for _, e := range cause.Explanations() {
		names = append(names, cobra.CompletionWithDesc(e.Code, e.Title))
		for _, reason := range e.Reasons {
			meant[reason] = append(meant[reason], e.Code)
		}
	}
	_, kubernetes := cause.Reasons()
	for _, reason := range kubernetes {
		names = append(names, cobra.CompletionWithDesc(reason, "Kubernetes' word for "+strings.Join(meant[reason], ", ")))
	}
	return names, nil
}
