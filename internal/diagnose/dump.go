package diagnose

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
)

// maxDump is how much is read: a namespace's objects take some megabytes, and
// all of it is held in memory.
const maxDump = 64 << 20

// Dump is what was written down of a cluster: a history, or how things stood at
// one moment.
type Dump struct {
	Records []watch.Record
	// Recorded is true for a history; the records of a list have no times.
	Recorded bool
	// Unread is what was asked for and may not be read.
	Unread []string
}

// Read reads a dump: JSON lines of watch events, or the List that `kubectl get
// -o json` prints. The name is for messages.
func Read(r io.Reader, name string) (Dump, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxDump+1))
	switch {
	case err != nil:
		return Dump{}, fault.New(fault.InvalidArgument, "cannot read %s: %w", name, err)
	case len(raw) > maxDump:
		return Dump{}, fault.New(fault.InvalidArgument, "%s is larger than %d MiB", name, maxDump>>20).
			WithHint("dump one namespace only, and only pods, events, claims and workloads")
	case len(bytes.TrimSpace(raw)) == 0:
		return Dump{}, fault.New(fault.InvalidArgument, "%s is empty", name).WithHint("%s", dumpHint)
	}
	d := Dump{Recorded: isHistory(raw)}
	if d.Recorded {
		d.Records, err = watch.ReadHistory(bytes.NewReader(raw))
	} else {
		d.Records, err = readLists(raw)
	}
	if err != nil {
		return Dump{}, fault.New(fault.InvalidArgument, "%s: %w", name, err).WithHint("%s", dumpHint)
	}
	d.identify()
	return d, nil
}

const dumpHint = "a dump is what `kubectl get pods,events,pvc,deployments,replicasets,statefulsets,daemonsets,jobs -o json` prints, " +
	`or JSON lines of {"at", "type", "object"}`

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

// Until is the dump as it was at a time: of a history, what had been said by
// then. A zero time is the end of a history, or else now.
func (d Dump) Until(at, now time.Time) (Dump, time.Time, error) {
	if !d.Recorded {
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
