package doctor

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/store"
)

// NATS judges where records are to be kept. Workspaces are provisioned without
// it, so it never fails.
func NATS(p store.Probe, keep time.Duration, err error) Finding {
	if err != nil {
		f := fault.From(err)
		hint := f.Hint
		if hint == "" {
			hint = "correct jobs.nats in the configuration, or set jobs.store to cluster"
		}
		return Warning(f.Message+"; meanwhile records stay in the cluster", hint)
	}
	switch {
	case !p.Exists:
		return OK(fmt.Sprintf("%s; the first record creates the bucket %s, which keeps them for %s", p.Address, job.Bucket,
			job.FormatRetention(keep)))
	case p.Keep == 0:
		return Warning(fmt.Sprintf("%s keeps records forever (%d in bucket %s)", p.Address, p.Documents, job.Bucket),
			fmt.Sprintf("give the bucket an age: nats stream edit KV_%s --max-age %s", job.Bucket, job.FormatRetention(keep)))
	case p.Keep != keep:
		return OK(fmt.Sprintf("%s keeps records for %s (set in bucket %s) instead of %s", p.Address,
			job.FormatRetention(p.Keep), job.Bucket, job.FormatRetention(keep)))
	}
	return OK(fmt.Sprintf("%s keeps records for %s (%d in bucket %s)", p.Address, job.FormatRetention(p.Keep),
		p.Documents, job.Bucket))
}

// Records judges the records of jobs that lie in the namespace.
func Records(r job.Counts, usesNATS bool) Finding {
	said := fmt.Sprintf("%d in the namespace", r.Kept)
	if r.Expired > 0 {
		said += fmt.Sprintf(", and %d that expired: the next command that writes here removes them", r.Expired)
	}
	switch {
	case r.Pending > 0 && !usesNATS:
		return Warning(fmt.Sprintf("%s; %d wait for a NATS that is not configured here", said, r.Pending),
			"configure jobs.nats as it was where they were written, then `berth jobs` moves them; or leave them until they expire")
	case r.Pending > 0:
		return OK(fmt.Sprintf("%s; %d wait for NATS: the next command that reaches it moves them", said, r.Pending))
	}
	return OK(said)
}
