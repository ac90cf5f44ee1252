package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

const (
	// leastShort is how many characters a short ID has at least, as in git.
	leastShort = 7
	wholeID    = len("00000000-0000-0000-0000-000000000000")
)

// ShortIDs are the shortest prefixes of IDs, of seven characters at least, that tell them apart.
func ShortIDs(records []Record) map[string]string {
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	slices.Sort(ids) // those that begin alike are neighbours
	ids = slices.Compact(ids)
	short := make(map[string]string, len(ids))
	for i, id := range ids {
		length := leastShort
		if i > 0 {
			length = max(length, common(id, ids[i-1])+1)
		}
		if i+1 < len(ids) {
			length = max(length, common(id, ids[i+1])+1)
		}
		short[id] = id[:min(length, len(id))]
	}
	return short
}

// common is how many bytes two texts have in common at the beginning.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Find is the ID of the job that somebody means with it, or with the beginning of it.
func (s *Stores) Find(ctx context.Context, typed string) (id string, err error) {
	if len(typed) >= wholeID {
		return typed, nil
	}
	records, missing, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	if id, err = choose(records, typed, s.cluster.Now()); missing != nil && fault.CodeOf(err) == fault.NotFound {
		err = missing
	}
	return id, err
}

// choose is the job whose ID begins with what was typed, or is that.
func choose(records []Record, typed string, now time.Time) (string, error) {
	var found []Record
	for _, r := range records {
		switch {
		case r.ID == typed:
			return typed, nil
		case strings.HasPrefix(r.ID, typed):
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return "", notFound(typed)
	case 1:
		return found[0].ID, nil
	}
	err := fault.New(fault.InvalidArgument, "%q is ambiguous: %d jobs have such an ID", typed, len(found)).
		WithHint("give more of the ID")
	for _, r := range found {
		err.Problems = append(err.Problems,
			fmt.Sprintf("%s (%s, %s, %s)", r.ID, r.WorkspaceName, r.State(now), r.CreatedAt.UTC().Format(time.RFC3339)))
	}
	return "", err
}

func notFound(id string) error {
	return fault.New(fault.NotFound, "job %s not found", id).
		WithHint("`berth jobs` lists the jobs; records are kept for 48 hours if nothing else is configured")
}

// MayBeID is false for what is no beginning of a job's ID, which is a UUID.
func MayBeID(typed string) bool {
	return strings.Trim(strings.ToLower(typed), "0123456789abcdef-") == ""
}
