// Package batch is how a command works on several workspaces: they are chosen by arguments or by their owner, what
// would become of them is shown, and some at a time are worked on while that is shown.
package batch

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Workspace is one of them.
type Workspace struct {
	Argument                  inventory.Argument
	Typed                     string // empty for one of an owner's
	UserString, ID, Namespace string
	Target                    *inventory.Target
	Err                       error // that kept it from being found
}

// Selection is what the command line says.
type Selection struct {
	Args          []string
	ByOwner       bool // all workspaces of Owner, instead of Args
	Owner         string
	AllNamespaces bool
	Parallel      int
}

// Many says whether the result is that of several, and not of one workspace.
func (s Selection) Many() bool { return s.ByOwner || len(s.Args) > 1 }

// Validate finds what is wrong with the command line.
func (s Selection) Validate() error {
	switch {
	case s.ByOwner && strings.TrimSpace(s.Owner) == "":
		return fault.New(fault.InvalidArgument, "--owner must not be empty")
	case s.ByOwner && len(s.Args) > 0:
		return fault.New(fault.InvalidArgument, "--owner and the workspace %q are mutually exclusive", s.Args[0])
	case !s.ByOwner && s.AllNamespaces:
		return fault.New(fault.InvalidArgument, "--all-namespaces requires --owner")
	case !s.ByOwner && len(s.Args) == 0:
		return fault.New(fault.InvalidArgument, "requires at least one workspace, or --owner")
	}
	return CheckParallel(s.Parallel)
}

// Parse reads the arguments, each once, and reports all that are wrong; done is what the
// command would have done to the others: "deleted".
func (s Selection) Parse(done string) ([]Workspace, error) {
	var all []Workspace
	var errs []error
	seen := map[string]bool{}
	for _, text := range s.Args {
		arg, err := inventory.ParseArgument(text)
		if err != nil {
			invalid := *fault.From(err)
			invalid.Message = fmt.Sprintf("%q: %s", text, invalid.Message)
			errs = append(errs, &invalid)
		} else if !seen[text] {
			seen[text] = true
			all = append(all, Workspace{Argument: arg, Typed: text, ID: arg.IDs()[0], Namespace: arg.Namespace})
		}
	}
	return all, invalid(errs, len(s.Args), done)
}

// invalid is the one error about all arguments that are wrong.
func invalid(errs []error, all int, done string) error {
	switch {
	case len(errs) == 0:
		return nil
	case all == 1:
		return errs[0]
	}
	err := fault.New(fault.InvalidArgument, "%d of %d arguments are invalid; nothing was %s", len(errs), all, done)
	for _, e := range errs {
		err.Problems = append(err.Problems, fault.From(e).Message)
	}
	return err.WithHint("see `berth help user-strings`")
}

// Find looks the workspaces up. Arguments that are ambiguous are reported together; one
// that is not found keeps its error.
func (s Selection) Find(
	ctx context.Context, namespace string, all []Workspace, done string,
	find func(context.Context, inventory.Argument) (*inventory.Target, error),
) ([]Workspace, error) {
	ForEach(len(all), s.Parallel, func(i int) {
		w := &all[i]
		if w.Err == nil {
			w.Target, w.Err = find(ctx, w.Argument)
		}
		if w.Target != nil {
			w.ID, w.Namespace = w.Target.ID, w.Target.Namespace
		} else if w.Namespace == "" {
			w.Namespace = namespace
		}
	})
	return unique(all, done)
}

// unique leaves out those that are the same workspace by another name.
func unique(found []Workspace, done string) (all []Workspace, err error) {
	seen := map[[2]string]bool{}
	var errs []error
	for _, w := range found {
		key := [2]string{w.Namespace, w.ID}
		switch {
		case fault.CodeOf(w.Err) == fault.InvalidArgument:
			errs = append(errs, w.Err)
		case !seen[key]:
			seen[key] = true
			all = append(all, w)
		}
	}
	return all, invalid(errs, len(found), done)
}

// Owned lists the workspaces of the owner, those without pods as well.
func (s Selection) Owned(
	ctx context.Context, r inventory.Reader, place lifecycle.Place,
) (*v1.WorkspaceList, []Workspace, error) {
	query := fleet.Query{Namespace: r.Client.Namespace, Owners: []string{s.Owner}, Installed: true}
	where, everywhere := "in namespace "+query.Namespace, []string(nil)
	if s.AllNamespaces {
		query.Namespace, where, everywhere = metav1.NamespaceAll, "in any namespace", []string{"--all-namespaces"}
	}
	list, missing, err := recorded.List(ctx, r, place, lifecycle.Limits{}, query, fleet.List)
	switch {
	case err != nil:
		return nil, nil, cmdutil.Because(ctx, err)
	case len(missing) > 0:
		return nil, nil, cmdutil.Because(ctx, missing[0])
	case len(list.Items) == 0:
		return list, nil, fault.New(fault.NotFound, "no workspaces of %s found %s", s.Owner, where).
			WithHint("`%s` lists all workspaces", strings.Join(append([]string{"berth status"}, everywhere...), " "))
	}
	all := make([]Workspace, len(list.Items))
	for i, w := range list.Items {
		all[i] = Workspace{UserString: w.UserString, ID: w.ID, Namespace: w.Namespace}
		all[i].Argument, all[i].Err = inventory.ListedArgument(w)
	}
	return list, all, nil
}

// AddFlags adds the flags that choose workspaces.
func (s *Selection) AddFlags(f *cmdutil.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.AddOwnerFlag(cmd, &s.Owner, cmd.Name()+" all workspaces of this user")
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, "with --owner: in all namespaces")
	f.CompleteFrom(cmd, "owner", func(w v1.Workspace) string { return w.Owner })
	AddParallelFlag(cmd, &s.Parallel)
}

// Words are the selection as one would type it.
func (s Selection) Words() (words []string) {
	for _, arg := range s.Args {
		words = append(words, fault.Word(arg))
	}
	if s.ByOwner {
		words = append(words, wording.Flag("--owner", s.Owner))
	}
	if s.AllNamespaces {
		words = append(words, "--all-namespaces")
	}
	return append(words, ParallelFlag(s.Parallel)...)
}

// Again is the command with that verb for the same workspaces.
func (s Selection) Again(verb string, flags []string) string {
	return strings.Join(append(append([]string{"berth", verb}, s.Words()...), flags...), " ")
}

// Batch is what the progress of a command with such a verb is about; again is the command
// that goes on with such a selection. Where workspaces of several namespaces are worked on, whose
// IDs may be the same, they go by namespace and ID.
func (s Selection) Batch(
	namespace string, all []Workspace, verb string, again func(Selection) string, flags []string,
) wording.Batch {
	b := wording.Batch{Single: !s.Many(), Namespace: namespace, Parallel: s.Parallel, Flags: flags, Again: again(s)}
	severalNamespaces := false
	for _, w := range all {
		severalNamespaces = severalNamespaces || w.Namespace != namespace
	}
	for _, w := range all {
		title := wording.Title{
			UserString: cmp.Or(w.Typed, w.UserString), ID: w.ID, Namespace: w.Namespace, Verb: verb, Flags: flags,
		}
		if severalNamespaces && s.Many() {
			b.Namespace, title.UserString, title.ID = "", "", w.Namespace+"/"+w.ID
		}
		b.Members = append(b.Members, title)
	}
	if !s.ByOwner || !severalNamespaces {
		b.AgainFor = func(members []int) string { return again(s.of(all, members)) }
	}
	return b
}

// of is the selection of some of the workspaces alone, which are in one namespace or were typed.
func (s Selection) of(all []Workspace, members []int) Selection {
	some := Selection{Parallel: s.Parallel}
	for _, i := range members {
		some.Args = append(some.Args, cmp.Or(all[i].Typed, all[i].UserString, "id/"+all[i].ID))
	}
	return some
}

// OrDenied is the permission that was missing to see whether there is such a workspace, if
// that is why it was not found: what could not be seen is not gone.
func OrDenied(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	if cause := fault.From(err).Err; fault.CodeOf(cause) == fault.PermissionDenied {
		return cause
	}
	return err
}
