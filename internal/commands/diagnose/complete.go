package diagnose

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// maxNames is how many names of a kind are read for completion.
const maxNames = 500

// completeSubject completes a workspace, or a kind and, after its slash, the name of one.
func completeSubject(f *cmdutil.Factory) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if word, _, slash := strings.Cut(typed, "/"); slash && diagnose.KindOf(word) != "" {
			return names(cmd, f, word)
		}
		kinds := kindsLike(typed)
		workspaces, directive := f.CompleteWorkspace(cmd, args, typed)
		if len(kinds) > 0 {
			return append(workspaces, kinds...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return workspaces, directive
	}
}

// kindsLike are the kinds that begin so. Nothing typed stands for a workspace.
func kindsLike(typed string) (words []cobra.Completion) {
	for _, kind := range diagnose.Kinds() {
		if word := strings.ToLower(kind); typed != "" && strings.HasPrefix(word, typed) {
			words = append(words, word+"/")
		}
	}
	return words
}

// names are those of the namespace's objects of a kind, after the word for it that was typed.
func names(cmd *cobra.Command, f *cmdutil.Factory, word string) (found []cobra.Completion,
	directive cobra.ShellCompDirective,
) {
	ctx, cancel := context.WithTimeout(cmd.Context(), cmdutil.CompletionTimeout)
	defer cancel()
	client, err := cmdutil.Await(ctx, f.Client)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	reader, err := metadata.NewForConfigAndClient(client.Config, client.HTTP)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, err := reader.Resource(resourceOf(diagnose.KindOf(word))).Namespace(client.Namespace).
		List(ctx, metav1.ListOptions{Limit: maxNames})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for i := range list.Items {
		found = append(found, word+"/"+list.Items[i].Name)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

func resourceOf(kind string) schema.GroupVersionResource {
	version := appsv1.SchemeGroupVersion
	switch kind {
	case watch.KindPod:
		version = corev1.SchemeGroupVersion
	case watch.KindJob:
		version = batchv1.SchemeGroupVersion
	}
	resource, _ := kube.ResourceOf(version.WithKind(kind))
	return resource.GroupVersionResource
}
