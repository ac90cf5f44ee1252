package cmdutil

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// WarnOfNamespace warns of a namespace that does not exist, where nothing was found in it. To
// whoever may not read it, nothing is said.
func WarnOfNamespace(ctx context.Context, s terminal.Streams, client *kube.Client, namespace string) {
	if namespace == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	if _, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		printer.PrintWarning(s, "namespace "+namespace+" does not exist; --namespace chooses another one")
	}
}
