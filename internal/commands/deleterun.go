package commands

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// runMany removes several workspaces, and tells of them on one stream.
func (o *deleteOptions) runMany(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	begun := time.Now()
	if _, err := understandAll(args, ""); err != nil {
		return err // before the cluster is asked
	}
	p, err := a.provisioner(cmd)
	if err != nil {
		return err
	}
	p.WaitForLock = o.wait
	removals, err := o.findAll(ctx, a, p, args)
	if err != nil {
		return err
	}
	b := o.batch(cmd, p, args, removals)
	view := a.startProgressOfMany(o.output.format, b)
	joint := event.NewStream("", time.Now, view)
	items := make([]v1.DeletionItem, len(removals))
	sideBySide(len(removals), o.many.parallel, func(i int) {
		m, title := removals[i], b.Members[i]
		stream := event.NewStream(title.ID, time.Now, joint.Join())
		result := o.removeOne(ctx, p, m, stream)
		if result.Error != nil {
			result.Error.Hint = title.Located(result.Error.Hint)
		}
		items[i] = v1.DeletionItem{
			Argument: m.arg, UserString: m.userString, ID: m.id, Namespace: m.namespace,
			Deletion: result.Deletion, Error: result.Error,
		}
		stream.Finish(result)
	})
	summary := summarizeDeletions(items, time.Since(begun), p.Client.Requests.Count())
	result := v1.Result{Deletions: &summary}
	joint.Finish(result)
	if err := printer.Report(a.streams, o.output.format, result, view.Shown()); err != nil {
		return err
	}
	if summary.ExitStatus != 0 {
		return statusError(summary.ExitStatus)
	}
	return nil
}

// findAll finds what is to be removed. What makes no sense is told together,
// before anything is; what is not there is told as one that failed.
func (o *deleteOptions) findAll(ctx context.Context, a *app, p *provision.Provisioner, args []string) ([]removal, error) {
	if o.many.owner != "" {
		return o.ofOwner(ctx, a, p)
	}
	removals, err := understandAll(args, p.Client.Namespace)
	if err != nil {
		return nil, err
	}
	sideBySide(len(removals), o.many.parallel, func(i int) {
		removals[i].target, removals[i].err = p.Find(ctx, removals[i].arg)
	})
	return once(removals)
}

// batch is what the progress is about. Where workspaces of several namespaces are
// removed, whose IDs may be the same, they go by namespace and ID.
func (o *deleteOptions) batch(cmd *cobra.Command, p *provision.Provisioner, args []string, removals []removal) wording.Batch {
	b := wording.Batch{Namespace: p.Client.Namespace, Parallel: o.many.parallel, Flags: givenFlags(cmd), Again: o.again(cmd, args)}
	several := false
	for _, m := range removals {
		several = several || m.namespace != p.Client.Namespace
	}
	for _, m := range removals {
		title := wording.Title{UserString: m.arg, ID: m.id, Namespace: m.namespace, Verb: "delete", Flags: b.Flags}
		if m.arg == "" {
			title.UserString = m.userString
		}
		if several {
			b.Namespace = ""
			title.UserString, title.ID = "", m.namespace+"/"+m.id
		}
		b.Members = append(b.Members, title)
	}
	return b
}

// again is the command that removes what is still there.
func (o *deleteOptions) again(cmd *cobra.Command, args []string) string {
	words := []string{"berth delete"}
	for _, arg := range args {
		words = append(words, wording.Word(arg))
	}
	if o.many.owner != "" {
		words = append(words, wording.Flag("--owner", o.many.owner))
	}
	if o.many.allNamespaces {
		words = append(words, "--all-namespaces")
	}
	if o.many.parallel != defaultParallel {
		words = append(words, "--parallel "+strconv.Itoa(o.many.parallel))
	}
	return strings.Join(append(append(words, "--ignore-not-found"), givenFlags(cmd)...), " ")
}

// removeOne removes one of them, unless there is no time left to begin.
func (o *deleteOptions) removeOne(ctx context.Context, p *provision.Provisioner, m removal, stream *event.Stream) v1.Result {
	if ctx.Err() != nil {
		return notBegun(ctx)
	}
	err := orDenied(m.err)
	if fault.CodeOf(err) == fault.NotFound {
		if m.arg != "" {
			p.Forget(ctx, m.arg)
		}
		if o.ignoreNotFound || m.arg == "" { // of all of an owner, one that is gone by now is as wanted
			return v1.Result{Deletion: &v1.Deletion{
				TypeMeta: v1.Kind(v1.KindDeletion), ID: m.id, Namespace: m.namespace, Gone: true, NotFound: true,
			}}
		}
	}
	var deletion *v1.Deletion
	if err == nil {
		deletion, err = p.Delete(ctx, m.target, o.noWait, stream)
	}
	if err != nil {
		document := printer.ErrorDocument(err)
		return v1.Result{Error: &document}
	}
	return v1.Result{Deletion: deletion}
}

// orDenied is the permission that was missing to see whether there is such a
// workspace, if that is why it was not found: what nobody could see is not gone.
func orDenied(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	if cause := fault.From(err).Err; fault.CodeOf(cause) == fault.PermissionDenied {
		return cause
	}
	return err
}

func summarizeDeletions(items []v1.DeletionItem, took time.Duration, requests int) v1.DeletionSummary {
	var n tally
	for _, item := range items {
		n.add(item.Error)
	}
	return v1.DeletionSummary{
		TypeMeta: v1.Kind(v1.KindDeletionSummary), Items: items,
		Succeeded: n.succeeded, Failed: n.failed, ExitStatus: n.status,
		Seconds: took.Seconds(), Requests: requests,
	}
}
