package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// listFlags say which workspaces a list has, in which order, and how its table
// looks.
type listFlags struct {
	owners, blueprints []string
	stages             []v1.Stage
	selector           string
	order              inventory.Order
	noHeaders          bool
}

func (l *listFlags) register(cmd *cobra.Command, a *app) {
	flags := cmd.Flags()
	flags.StringSliceVar(&l.owners, "owner", nil, "only workspaces of these users")
	flags.StringSliceVar(&l.blueprints, "blueprint", nil, "only workspaces of these blueprints")
	flags.Var(choices[v1.Stage]{inventory.Stages(), &l.stages}, "stage", "only workspaces in these stages: "+words(inventory.Stages()))
	flags.StringVarP(&l.selector, "selector", "l", "", "only workspaces whose pods have these labels, as kubectl selects")
	flags.Var(choice[inventory.Order]{inventory.Orders(), &l.order}, "sort-by",
		words(inventory.Orders())+"; age has the youngest first, restarts the most (by namespace and name if not given)")
	flags.BoolVar(&l.noHeaders, "no-headers", false, "leave the titles of a table out")
	complete := func(name string, f cobra.CompletionFunc) { _ = cmd.RegisterFlagCompletionFunc(name, f) }
	complete("stage", completeList(inventory.Stages()))
	complete("sort-by", completeList(inventory.Orders()))
	complete("owner", a.completeFrom(func(w v1.Workspace) string { return w.Owner }))
	complete("blueprint", a.completeFrom(func(w v1.Workspace) string { return w.Blueprint }))
	complete("selector", cobra.NoFileCompletions)
}

// names are those of the flags.
func (l *listFlags) names() []string {
	return []string{"owner", "blueprint", "stage", "selector", "sort-by"}
}

func (l *listFlags) query(namespace string) inventory.Query {
	return inventory.Query{Namespace: namespace, Owners: l.owners, Blueprints: l.blueprints, Stages: l.stages, Labels: l.selector}
}

// needsStages is true if more than the metadata of pods has to be read.
func (l *listFlags) needsStages() bool {
	return len(l.stages) > 0 || l.order == inventory.ByStage || l.order == inventory.ByRestarts
}

// choices is a flag whose values are some of a few words, in whatever case they
// are typed.
type choices[T ~string] struct {
	known  []T
	chosen *[]T
}

// Set takes one or several, with commas between.
func (c choices[T]) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		value, err := oneOf(c.known, strings.TrimSpace(word))
		if err != nil {
			return err
		}
		*c.chosen = append(*c.chosen, value)
	}
	return nil
}

func (c choices[T]) String() string {
	if c.chosen == nil {
		return ""
	}
	return words(*c.chosen)
}

// Type is what help shows as the value.
func (c choices[T]) Type() string { return "strings" }

// choice is a flag whose value is one of a few words.
type choice[T ~string] struct {
	known  []T
	chosen *T
}

// Set takes one.
func (c choice[T]) Set(text string) (err error) {
	*c.chosen, err = oneOf(c.known, text)
	return err
}

func (c choice[T]) String() string {
	if c.chosen == nil {
		return ""
	}
	return string(*c.chosen)
}

// Type is what help shows as the value.
func (c choice[T]) Type() string { return "string" }

var _ pflag.Value = choice[v1.Stage]{}

func oneOf[T ~string](known []T, word string) (T, error) {
	i := slices.IndexFunc(known, func(k T) bool { return strings.EqualFold(string(k), word) })
	if i < 0 {
		return "", fmt.Errorf("%q is none of %s", word, words(known))
	}
	return known[i], nil
}

func words[T ~string](known []T) string {
	texts := make([]string, len(known))
	for i, k := range known {
		texts[i] = string(k)
	}
	return strings.Join(texts, ", ")
}

// completeList completes a list with commas.
func completeList[T ~string](known []T) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var all []cobra.Completion
		for _, k := range known {
			all = append(all, before+string(k))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFrom completes with what workspaces of the namespace have.
func (a *app) completeFrom(value func(v1.Workspace) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		p, err := a.provisioner(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		list, err := p.Names(ctx, inventory.Query{Namespace: p.Client.Namespace})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var values []string
		for _, w := range list.Items {
			if v := value(w); v != "" {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		return completeList(slices.Compact(values))(cmd, nil, typed)
	}
}
