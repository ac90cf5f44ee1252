package diagnose

import (
	"cmp"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose/dump"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
)

// Dump is what is known of a cluster: a history, or how things stood at one moment.
type Dump struct {
	dump.Contents
	// Unread is what was asked for and may not be read.
	Unread []string
	// AllEvents is true for what was read of a cluster with its events: one that is not there does not exist.
	AllEvents bool
}

// Open reads a dump from a file or a directory.
func Open(path string) (Dump, error) { return dumpOf(dump.Open(path)) }

// Read reads a dump. The name is for messages.
func Read(r io.Reader, name string) (Dump, error) { return dumpOf(dump.Read(r, name)) }

func dumpOf(contents dump.Contents, err error) (Dump, error) {
	d := Dump{Contents: contents}
	d.identify()
	if !d.Recorded {
		d.dropFormer()
	}
	return d, err
}

// logs are the last lines that the dump has of the container that a cause names; nil if it has none.
func (d Dump) logs(namespace string, c *v1.Cause) *v1.LogTail {
	if c == nil || c.Container == "" {
		return nil
	}
	pod, _ := strings.CutPrefix(c.Object, "pod/")
	for _, previous := range instances(c) {
		lines := d.Logs[dump.Instance{Namespace: namespace, Pod: pod, Container: c.Container, Previous: previous}]
		if len(lines) > 0 && !lost(lines[0]) {
			return &v1.LogTail{Container: c.Container, Previous: previous, Lines: lines}
		}
	}
	return nil
}

// Until is the dump as it was at a time: of a history, what had been said by
// then. A zero time is the end of a history, or else the newest time in a dump, so that
// it says the same tomorrow; now is for one that has no times.
func (d Dump) Until(at, now time.Time) (Dump, time.Time, error) {
	if !d.Recorded {
		if at.IsZero() {
			at = d.Newest()
		}
		if at.IsZero() {
			at = now
		}
		for i := range d.Records {
			d.Records[i].At = at
		}
		return d, at, nil
	}
	if len(d.Records) == 0 {
		return d, at, nil // which Choose complains about
	}
	first, last := d.Records[0].At, d.Records[len(d.Records)-1].At
	if at.IsZero() {
		return d, last, nil
	}
	if at.Before(first) {
		return d, at, fault.New(fault.InvalidArgument, "%s is before the recording, which begins at %s",
			at.UTC().Format(time.RFC3339), first.UTC().Format(time.RFC3339))
	}
	said := 0
	for said < len(d.Records) && !d.Records[said].At.After(at) {
		said++
	}
	d.Records = d.Records[:said]
	return d, at, nil
}

// place is where an object is: there can be one at a time.
type place struct{ kind, namespace, name string }

func placeOf(o metav1.Object) place {
	return place{reflect.TypeOf(o).Elem().Name(), o.GetNamespace(), o.GetName()}
}

// objects are those of the records.
func (d Dump) objects() (all []metav1.Object) {
	for _, r := range d.Records {
		if o, err := meta.Accessor(r.Object); err == nil {
			all = append(all, o)
		}
	}
	return all
}

// identify gives a UID to objects from which it was removed, that by which others refer
// to them if there is one. Without one they could not be distinguished. Events that do
// not say which object of a name they are about are about the one that is there.
func (d Dump) identify() {
	referred, known := map[place]types.UID{}, map[place]types.UID{}
	for _, o := range d.objects() {
		for _, owner := range o.GetOwnerReferences() {
			referred[place{owner.Kind, o.GetNamespace(), owner.Name}] = owner.UID
		}
		if e, ok := o.(*corev1.Event); ok && e.InvolvedObject.UID != "" {
			referred[about(e)] = e.InvolvedObject.UID
		}
	}
	for _, o := range d.objects() {
		at := placeOf(o)
		if o.GetUID() == "" {
			o.SetUID(cmp.Or(referred[at], types.UID(at.kind+"/"+at.namespace+"/"+at.name)))
		}
		known[at] = o.GetUID()
	}
	for _, o := range d.objects() {
		if e, ok := o.(*corev1.Event); ok && e.InvolvedObject.UID == "" {
			e.InvolvedObject.UID = known[about(e)]
		}
	}
}

func about(e *corev1.Event) place {
	return place{e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name}
}

// dropFormer leaves out objects in whose place there is a newer one: kubectl get --watch
// does not say that the one before was deleted.
func (d *Dump) dropFormer() {
	newest := map[place]metav1.Object{}
	for _, o := range d.objects() {
		known := newest[placeOf(o)]
		if known == nil || !o.GetCreationTimestamp().Time.Before(known.GetCreationTimestamp().Time) {
			newest[placeOf(o)] = o
		}
	}
	d.Records = slices.DeleteFunc(d.Records, func(r watch.Record) bool {
		o, err := meta.Accessor(r.Object)
		return err == nil && newest[placeOf(o)].GetUID() != o.GetUID()
	})
}
