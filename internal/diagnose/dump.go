package diagnose

import (
	"io"
	"time"

	"github.com/berthdev/berth/internal/diagnose/dump"
	"github.com/berthdev/berth/internal/fault"
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
