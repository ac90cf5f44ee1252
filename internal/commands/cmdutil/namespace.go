package cmdutil

import (
	"context"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// WarnOfNamespace warns of a namespace that does not exist, where nothing was found in it. To
// a caller who may not read it, nothing is said.
func WarnOfNamespace(ctx context.Context, s terminal.Streams, client *kube.Client, namespace string) {
	if namespace == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	if client.LacksNamespace(ctx, namespace) {
		printer.PrintWarning(s, "namespace "+namespace+" does not exist; --namespace chooses another one")
	}
}
