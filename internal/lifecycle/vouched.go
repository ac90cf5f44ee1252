package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/userstring"
)

// A loop carries records out with permissions that their authors need not have. So a record
// says beside its document, in annotations, what its author could do themselves; an admission
// policy of the cluster (Guard) admits only what is true of the author. A document says what
// it likes, as admission cannot read it: nothing is done that its record does not vouch for.

// Guard is the name of the admission policy, and of its binding.
const Guard = "berth-workspaces-records"

// The annotations of a record that admission decides upon.
const (
	// AnnotationVouched has the rights of the author, with commas in between.
	AnnotationVouched = "berth.dev/vouched"
	// AnnotationWorkload is the workload, as KIND/NAME, that the author may patch; empty for a
	// workspace with a pod of its own.
	AnnotationWorkload = "berth.dev/workload"
	// AnnotationMade has what limits are made of, as JSON: made. It changes only by those who
	// may create pods, as they can empty the storage, or patch the workload, or delete claims.
	AnnotationMade = "berth.dev/made"
)

// NamePrefix is how the names of the ConfigMaps begin that records are kept in.
const NamePrefix = namePrefix

// Right is something that the author of a record may do.
type Right string

// The rights. Of a workspace in a workload, RightStorage alone is not a matter of who may
// patch that.
const (
	RightStart   Right = "start"   // create pods
	RightStop    Right = "stop"    // delete pods
	RightDelete  Right = "delete"  // delete pods, and Helm's record
	RightStorage Right = "storage" // delete claims
)

// Rights are all of them.
func Rights() []Right { return []Right{RightStart, RightStop, RightDelete, RightStorage} }

// vouched is what a record vouches for.
type vouched struct {
	rights   []Right
	workload string
}

func (v vouched) has(rights ...Right) bool {
	return !slices.ContainsFunc(rights, func(r Right) bool { return !slices.Contains(v.rights, r) })
}

func (v vouched) with(rights ...Right) vouched {
	v.rights = slices.DeleteFunc(Rights(), func(r Right) bool { return !v.has(r) && !slices.Contains(rights, r) })
	return v
}

// made is what the age of a workspace is counted from, and the limits of its blueprint.
type made struct {
	CreatedAt time.Time `json:"createdAt"`
	Limits    Hours     `json:"limits,omitzero"`
}

// needs are the rights without which what a record wants is not done.
func (r Record) needs() []Right {
	switch r.Desired {
	case v1.DesiredStopped:
		return []Right{RightStop}
	case v1.DesiredRestart:
		return []Right{RightStart, RightStop}
	case v1.DesiredTerminated:
		return []Right{RightDelete}
	}
	return []Right{RightStart}
}

// Vouched returns an error unless the author of the record may do what it wants, to a
// workspace in this workload, as KIND/NAME, or with a pod of its own: FAILED.
func (r Record) Vouched(workload string) error {
	unvouched := func(format string, args ...any) error {
		return fault.New(fault.Failed, format, args...).WithReason(ReasonUnvouched).
			WithHint("repeat what is wanted with a command, such as %s or %s; --trust-records does what is "+
				"recorded all the same",
				kube.Command("start", r.ID, r.Namespace), kube.Command("delete", r.ID, r.Namespace))
	}
	switch {
	case len(r.vouched.rights) == 0:
		return unvouched("the record of workspace %s does not say that its author may do what it wants (%s)", r.ID,
			r.Desired)
	case !r.vouched.has(r.needs()...):
		return unvouched("the author of the record of workspace %s wants it to be %s, and may only %s", r.ID, r.Desired,
			r.vouched)
	case r.vouched.workload != workload:
		return unvouched("the author of the record of workspace %s vouches for %s, and the workspace has %s", r.ID,
			in(r.vouched.workload), in(workload))
	}
	return nil
}

func (v vouched) String() string {
	var words []string
	for _, r := range v.rights {
		words = append(words, map[Right]string{
			RightStart: "start", RightStop: "stop", RightDelete: "delete", RightStorage: "delete storage",
		}[r])
	}
	return strings.Join(words, " and ")
}

func in(workload string) string {
	if workload == "" {
		return "a pod of its own"
	}
	return workload
}

// IsVouched is false for a record that was written by nobody whom admission has asked.
func (r Record) IsVouched() bool { return len(r.vouched.rights) > 0 }

// ReasonUnvouched is the reason of the error of a record whose author may not do what it wants.
const ReasonUnvouched = "RECORD_UNVOUCHED"

// VouchesForStorage is true if the author of the record may delete claims.
func (r Record) VouchesForStorage() bool { return r.vouched.has(RightStorage) }

// By is the field manager that wrote the record, as it was read, and when; empty if it is not
// known.
func (r Record) By() (manager string, at time.Time) { return r.writtenBy, r.writtenAt }

// byLimit vouches for what a limit makes of the workspace: a loop decides that, of times and
// limits that the author has recorded. The storage goes only if they could have emptied it.
func (r Record) byLimit() Record {
	rights := r.needs()
	if r.vouched.has(RightStart) {
		rights = append(rights, RightStorage)
	}
	r.vouched = r.vouched.with(rights...)
	return r
}

// vouchers are what an author can vouch for, the most first. Which of it is true, the API
// server says.
func (r Record) vouchers() (all []vouched) {
	in := ""
	if u, err := userstring.ParseCanonical(r.UserString); err == nil {
		in = u.Workload.String()
	}
	all = append(all, vouched{Rights(), in})
	if r.Desired == v1.DesiredTerminated && !r.KeepStorage {
		all = append(all, vouched{append(r.needs(), RightStorage), in})
	}
	return append(all, vouched{r.needs(), in})
}

// author writes a record for an author who vouches for it, as far as they may.
func (s Records) author(ctx context.Context, r Record) (Record, error) {
	var err error
	for _, r.vouched = range r.vouchers() {
		var written Record
		if written, err = s.put(ctx, r, true); !isUnvouched(err) {
			return written, err
		}
	}
	return r, fault.New(fault.PermissionDenied, "you may not record %s as the desired state of workspace %s: %w",
		r.Desired, r.ID, err).
		WithHint("it takes the permissions to do that yourself: see docs/rbac.md")
}

// isUnvouched is true for the error of a record that the policy does not admit.
func isUnvouched(err error) bool {
	by, refused := errors.AsType[*kube.RefusedError](err)
	return refused && strings.Contains(by.Message, "'"+Guard+"'")
}

// annotations are what the record vouches for. An author who could change the limits repeats
// what they are made of.
func (r Record) annotations(author bool) (map[string]string, error) {
	rights := make([]string, len(r.vouched.rights))
	for i, right := range r.vouched.rights {
		rights[i] = string(right)
	}
	all := map[string]string{AnnotationVouched: strings.Join(rights, ","), AnnotationWorkload: r.vouched.workload}
	if author && (r.vouched.has(RightStart) || r.vouched.has(RightStorage)) {
		text, err := json.Marshal(made{r.CreatedAt, r.Limits})
		if err != nil {
			return nil, fmt.Errorf("record of workspace %s: %w", r.ID, err)
		}
		all[AnnotationMade] = string(text)
	}
	return all, nil
}

// believe takes what is known beside a document into its record. What the document says of
// its age and limits does not count where admission could not tell who says so.
func (r Record) believe(d store.Document) Record {
	if d.Written == nil {
		return r
	}
	r.writtenBy, r.writtenAt = d.Written.By, d.Written.At
	r.vouched.workload = d.Annotations[AnnotationWorkload]
	for right := range strings.SplitSeq(d.Annotations[AnnotationVouched], ",") {
		if slices.Contains(Rights(), Right(right)) {
			r.vouched = r.vouched.with(Right(right))
		}
	}
	var m made
	if text, ok := d.Annotations[AnnotationMade]; ok && json.Unmarshal([]byte(text), &m) == nil &&
		m.Limits.check() == nil {
		r.CreatedAt, r.Limits = m.CreatedAt, m.Limits
		return r
	}
	r.Limits = Hours{}
	if !d.Written.Created.IsZero() {
		r.CreatedAt = d.Written.Created
	}
	return r
}
