package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// notInstalled is the error about an instance that does not exist.
func notInstalled(name string) error {
	return fault.New(fault.NotFound, "bundle %s is not installed", name).WithHint("`berth bundle list` shows what is")
}

// Revisions are what is recorded of an instance, the newest first.
func (r Reconciler) Revisions(ctx context.Context, name string) (revisions []v1.BundleRevision, err error) {
	k, err := r.Know(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case k.Instance == nil && k.Release == nil:
		return nil, notInstalled(name)
	}
	records, err := r.records().All(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		revision, err := revisionOf(record)
		if err != nil {
			return nil, err
		}
		revisions = append(revisions, revision)
	}
	return revisions, nil
}

// Earlier is a request for what a revision of an instance had installed; 0 is the last one before the newest that was
// installed as a whole. What it was made of comes from its bundle if that is there, from where it was fetched, or from
// the cache; what was sent, and is nowhere any more, from the record. Its content is to be closed.
func (r Reconciler) Earlier(ctx context.Context, name string, revision int, k Known, steps *event.Steps) (q Request,
	err error,
) {
	if k.Instance == nil {
		return q, notInstalled(name)
	}
	if err := resource.CheckUsable(k.Instance); err != nil {
		return q, err
	}
	records, err := r.records().All(ctx, name)
	if err != nil {
		return q, err
	}
	record, err := choose(name, records, revision)
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
		err = r.restore(ctx, &q, record, k.Instance, steps)
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
	err = r.again(ctx, &q, *made, k.Bundles, steps)
	if errors.Is(err, fs.ErrNotExist) {
		err = r.restore(ctx, &q, record, k.Instance, steps)
	}
	return q, err
}

// choose finds the record of a revision, or of the one before the newest, among records of which the newest comes
// first.
func choose(name string, records []*helm.Release, revision int) (*helm.Release, error) {
	var numbers []string
	for i, record := range records {
		switch {
		case revision == 0 && i > 0 && isWhole(record):
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

// again has the content of a request from what it was made of. The error is fs.ErrNotExist if that was sent, and is
// not kept here.
func (r Reconciler) again(ctx context.Context, q *Request, made provenance, bundles []v1alpha1.Bundle,
	steps *event.Steps,
) (err error) {
	there := slices.IndexFunc(bundles, func(b v1alpha1.Bundle) bool {
		return b.Name == made.Bundle && b.DeletionTimestamp == nil && b.Status.ResolvedSource != nil &&
			made.Digest != "" && b.Status.Digest == made.Digest
	})
	switch {
	case there >= 0:
		b := &bundles[there]
		q.Source, q.Resolved = b.Spec.Source, *b.Status.ResolvedSource
		q.Content, err = r.unpacker("").Content(ctx, b, steps)
		return err
	case made.Source.Type == v1alpha1.SourceUpload:
		q.Source = v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{}}
		q.Resolved = v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{Digest: made.Digest}}
		q.Content, err = r.Fetcher.Cache.Get(made.Digest)
		return err
	}
	f := r.Fetcher
	f.Progress = steps.Progress
	q.Content, q.Resolved, err = f.Fetch(ctx, made.Resolved)
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
// the values that the next upgrade takes over.
func (r Reconciler) restore(ctx context.Context, q *Request, record *helm.Release, in *v1alpha1.Instance,
	steps *event.Steps,
) error {
	if q.Class == v1alpha1.ClassHelm || record.Chart != nil && len(record.Chart.Templates) > 0 {
		return lost(q, "its chart was sent from another machine, or by another program, and is not kept", nil)
	}
	text, err := manifestOf(record, in)
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
	steps.Note("the content of revision %d is gone: its objects are taken from its record", record.Version)
	return nil
}

// manifestOf are the objects of a record as manifests, without what ties them to the instance.
func manifestOf(record *helm.Release, in *v1alpha1.Instance) (string, error) {
	objects, err := release.Objects(record.Manifest)
	if err != nil {
		return "", err
	}
	for _, object := range objects {
		others := slices.DeleteFunc(object.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return ref.UID == in.UID
		})
		if len(others) == 0 {
			others = nil
		}
		object.SetOwnerReferences(others)
	}
	return (&format.Package{Format: format.Plain, Objects: objects}).Manifest()
}
