package instance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/dependency"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// Revisions are what is recorded of an instance, the newest first. What cannot be read of that is a warning.
func (r Reconciler) Revisions(ctx context.Context, name string) (h v1.BundleHistory, err error) {
	k, err := r.Snapshot(ctx, name)
	switch {
	case fault.ReasonOf(err) == release.ReasonUnreadable: // is among those that are named
	case err != nil:
		return h, err
	case k.Instance == nil && k.Release == nil:
		return h, notInstalled(name)
	}
	records, unreadable, err := r.records().History(ctx, name)
	if err != nil {
		return h, err
	}
	h.Name = name
	for _, record := range records {
		revision, err := revisionOf(record)
		if err != nil {
			return h, err
		}
		h.Items = append(h.Items, revision)
	}
	for _, u := range unreadable {
		f := fault.From(u.Err)
		h.Warnings = append(h.Warnings, fmt.Sprintf("revision %d is not listed: %s; %s", u.Version, f.Message, f.Hint))
	}
	return h, nil
}

// Earlier is a request for what a revision of an instance had installed; 0 is the last one before the newest that was
// installed as a whole. What it was made of comes from its bundle if that is there, from where it was fetched, or from
// the cache; what was sent, and is nowhere any more, from the record. Its content is to be closed.
func (r Reconciler) Earlier(ctx context.Context, name string, revision int, k Snapshot, steps *event.Steps) (q Request,
	err error,
) {
	if k.Instance == nil {
		return q, notInstalled(name)
	}
	if err := resource.CheckUsable(k.Instance); err != nil {
		return q, err
	}
	records, unreadable, err := r.records().History(ctx, name)
	if err != nil {
		return q, err
	}
	record, err := choose(name, records, revision, isBehind(k, records))
	if err := passedOver(name, record, revision, unreadable); err != nil {
		return q, err
	}
	if err != nil {
		return q, err
	}
	conf, err := resource.ConfigOf(k.Instance)
	if err != nil {
		return q, err
	}
	q = Request{Name: name, Revision: record.Version, ServiceAccount: k.ServiceAccount()}
	q.Config.Namespace = conf.Namespace
	made := provenanceIn(record)
	if made == nil || !resource.IsOurs(made.Class) {
		err = r.restore(ctx, &q, record, k.Instance, false, steps)
		return q, err
	}
	q.Class, q.Config.Namespace = made.Class, made.Namespace
	if q.Class == v1alpha1.ClassHelm && len(record.Config) > 0 {
		values, err := yaml.Marshal(record.Config)
		if err != nil {
			return q, err
		}
		q.Config.Values = string(values)
	}
	q.Config.Format, q.Config.WatchNamespaces = made.Format, made.Watch
	err = r.again(ctx, &q, *made, k, steps)
	if gone, is := errors.AsType[notKeptError](err); is {
		if err = gone.because; err == nil || q.Class != v1alpha1.ClassHelm {
			q.Config.Format, q.Config.WatchNamespaces = "", nil // the objects become plain manifests
			err = r.restore(ctx, &q, record, k.Instance, true, steps)
		}
	}
	return q, err
}

// isBehind is true if nothing is recorded of what is wanted of an instance: it failed before there was anything to
// apply, and the newest record is of what runs.
func isBehind(k Snapshot, records []*helm.Release) bool {
	if len(records) == 0 {
		return false
	}
	made := provenanceIn(records[0])
	wanted, _, err := resource.BundleFor(k.Instance, k.Bundles)
	return err == nil && made != nil && (wanted == nil || wanted.Name != made.Bundle)
}

// choose finds the record of a revision among records of which the newest comes first; of 0, that which was installed
// as a whole before the newest or, if what is wanted now is behind the newest, that one.
func choose(name string, records []*helm.Release, revision int, behind bool) (*helm.Release, error) {
	if revision == 0 && len(records) > 0 {
		if err := unclear(name, records); err != nil {
			return nil, err
		}
	}
	var numbers []string
	for i, record := range records {
		switch {
		case revision == 0 && (i > 0 || behind) && isWhole(record):
			return record, nil
		case revision == record.Version && isWhole(record):
			return record, nil
		case revision == record.Version:
			return nil, fault.New(fault.InvalidArgument,
				"revision %d of bundle %s was not installed as a whole (%s): %s", revision, name, record.Info.Status,
				record.Info.Description).
				WithHint("`berth bundle history %s` shows what was", name)
		}
		numbers = append(numbers, strconv.Itoa(record.Version))
	}
	if revision == 0 {
		return nil, fault.New(fault.NotFound, "nothing that was installed before is recorded of bundle %s", name).
			WithHint("`berth bundle history %s` shows what is", name)
	}
	return nil, fault.New(fault.NotFound, "bundle %s has no revision %d: it has %s", name, revision,
		strings.Join(numbers, ", ")).
		WithHint("the last %d are kept; install what is older from its source", keptRevisions)
}

// unclear is the error about a newest revision that was cut off or refused, and had what an earlier one has, as that of
// a rollback does: to go back again may mean that one, or what is installed.
func unclear(name string, records []*helm.Release) error {
	tried := provenanceIn(records[0])
	if isWhole(records[0]) || tried == nil || tried.Digest == "" {
		return nil
	}
	installed := slices.IndexFunc(records, isWhole)
	for _, record := range records[installed+1:] {
		if made := provenanceIn(record); isWhole(record) && made != nil && made.Digest == tried.Digest {
			return fault.New(fault.InvalidArgument, "revision %d of bundle %s was not installed as a whole, and has "+
				"what revision %d has: name the revision to install", records[0].Version, name, record.Version).
				WithHint("`berth bundle rollback %s %d` goes on with it, and `berth bundle rollback %s %d` back to "+
					"what was installed before it", name, record.Version, name, records[installed].Version)
		}
	}
	return nil
}

// notKeptError is the error about content that was sent, and cannot be had here.
type notKeptError struct{ because error }

func (e notKeptError) Error() string { return fmt.Sprintf("the content is not kept: %v", e.because) }

// again has the content of a request from what it was made of. The error is notKeptError if that was sent.
func (r Reconciler) again(
	ctx context.Context, q *Request, made provenance, k Snapshot, steps *event.Steps,
) (err error) {
	there := slices.IndexFunc(k.Bundles, func(b v1alpha1.Bundle) bool {
		return b.Name == made.Bundle && b.DeletionTimestamp == nil && b.Status.ResolvedSource != nil &&
			made.Digest != "" && b.Status.Digest == made.Digest
	})
	uploaded := made.Source.Type == v1alpha1.SourceUpload
	q.Source = v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{}}
	q.Resolved = v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{Digest: made.Digest}}
	if !uploaded {
		q.Source, q.Resolved, q.Charts = made.Resolved, made.Resolved, made.Charts
	}
	if there >= 0 {
		return r.from(ctx, q, &k.Bundles[there], k, steps)
	}
	if made.Digest != "" {
		if q.Content, err = r.Fetcher.Cache.Get(made.Digest); err == nil {
			return nil
		}
	}
	if uploaded {
		return notKeptError{}
	}
	f := r.Fetcher
	f.Progress = steps.Progress
	q.Content, q.Resolved, err = dependency.Pinned(made.Charts).Fetch(ctx, f, made.Resolved)
	if err != nil {
		return lost(q, err.Error(), err)
	}
	q.Source = q.Resolved
	if made.Digest != "" && made.Digest != q.Content.Digest {
		_ = q.Content.Close()
		return lost(q, fmt.Sprintf("its content was %s and is %s", made.Digest, q.Content.Digest), nil)
	}
	return nil
}

// from has the content of a request from its bundle. The source stays as it is where the instance then has that very
// bundle again: for another one, a branch or a tag would be looked up, and may have moved.
func (r Reconciler) from(
	ctx context.Context, q *Request, b *v1alpha1.Bundle, k Snapshot, steps *event.Steps,
) (err error) {
	q.Content, err = r.unpacker("").Content(ctx, b, steps)
	if err != nil {
		if b.Spec.Source.Type == v1alpha1.SourceUpload && (fault.CodeOf(err) == fault.PermissionDenied ||
			fault.CodeOf(err) == fault.NotFound || fault.ReasonOf(err) == source.ReasonIncomplete) {
			return notKeptError{err}
		}
		return err
	}
	asked := *q
	asked.Source, asked.Charts = b.Spec.Source, resource.ChartsOf(b)
	wanted, err := instanceOf(asked)
	if err != nil {
		return err
	}
	wanted.UID = k.Instance.UID
	if same, _, err := resource.BundleFor(wanted, k.Bundles); err == nil && same != nil && same.Name == b.Name {
		q.Source, q.Charts = asked.Source, asked.Charts
	}
	q.Resolved = *b.Status.ResolvedSource
	return nil
}

// lost is the error of a revision whose content cannot be had again, from where it was fetched.
func lost(q *Request, why string, err error) error {
	f := fault.New(fault.Failed, "")
	if err != nil {
		f = fault.From(err)
	}
	gone := *f
	gone.Message = fmt.Sprintf("revision %d of bundle %s cannot be installed again: %s", q.Revision, q.Name, why)
	if gone.Hint == "" {
		gone.Hint = fmt.Sprintf("install what it had from another source: berth bundle install %s SOURCE", q.Name)
	}
	return &gone
}

// restore makes the content of a request of the objects that a record has. A chart is more than these: its hooks, and
// the values that the next upgrade takes over. What was fetched from a place that the record does not name may have
// Secrets, which an upload would show to everybody that reads ConfigMaps.
func (r Reconciler) restore(ctx context.Context, q *Request, record *helm.Release, in *v1alpha1.Instance, sent bool,
	steps *event.Steps,
) error {
	why := "its record does not say what it was made of"
	if sent {
		why = "it was sent from another machine, or long ago, and is not in the cache of this one"
	}
	if q.Class == v1alpha1.ClassHelm || isOfChart(record) {
		return lost(q, "it is a chart, and "+why, nil)
	}
	objects, err := objectsOf(record, in)
	if err != nil {
		return err
	}
	isSecret := func(o *unstructured.Unstructured) bool { return o.GetAPIVersion() == "v1" && o.GetKind() == "Secret" }
	if !sent && slices.ContainsFunc(objects, isSecret) {
		return lost(q, "it has Secrets, and "+why, nil)
	}
	text, err := (&format.Package{Format: format.Plain, Objects: objects}).Manifest()
	if err != nil {
		return err
	}
	b, err := content.NewBuilder(r.Fetcher.Cache, r.Fetcher.Limits)
	if err != nil {
		return err
	}
	defer b.Discard()
	if err := b.Add("manifests/objects.yaml", int64(len(text)), strings.NewReader(text)); err != nil {
		return err
	}
	if q.Content, err = b.Seal(ctx); err != nil {
		return err
	}
	q.Class = v1alpha1.ClassPlain
	q.Source = v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{}}
	q.Resolved = v1alpha1.Source{
		Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{Digest: q.Content.Digest},
	}
	steps.Note("the objects of revision %d are taken from its record", record.Version)
	return nil
}
