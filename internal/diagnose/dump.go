package diagnose

import (
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/diagnose/dump"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
)

// Dump is what is known of a cluster: a history, or how things stood at one moment.
type Dump struct {
	dump.Contents
	// Unread is what was asked for and may not be read.
	Unread []string
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

// identify gives a UID to objects from which it was removed. Without one they
// could not be distinguished.
func (d Dump) identify() {
	for _, r := range d.Records {
		o, err := meta.Accessor(r.Object)
		if err == nil && o.GetUID() == "" {
			o.SetUID(types.UID(fmt.Sprintf("%T/%s/%s", r.Object, o.GetNamespace(), o.GetName())))
		}
	}
}

// dropFormer leaves out objects in whose place there is a newer one: kubectl get --watch
// does not say that the one before was deleted.
func (d *Dump) dropFormer() {
	type place struct{ kind, namespace, name string }
	placeOf := func(r watch.Record) (place, metav1.Object) {
		o, err := meta.Accessor(r.Object)
		if err != nil {
			return place{}, nil
		}
		return place{fmt.Sprintf("%T", o), o.GetNamespace(), o.GetName()}, o
	}
	newest := map[place]metav1.Object{}
	for _, r := range d.Records {
		at, o := placeOf(r)
		if known := newest[at]; known == nil || !o.GetCreationTimestamp().Time.Before(known.GetCreationTimestamp().Time) {
			newest[at] = o
		}
	}
	d.Records = slices.DeleteFunc(d.Records, func(r watch.Record) bool {
		at, o := placeOf(r)
		return o != nil && newest[at].GetUID() != o.GetUID()
	})
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
