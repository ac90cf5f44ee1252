package lock

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// renewEvery leaves room for two renewals to fail before the lock is lost.
const renewEvery = Duration / 3

// Lock is a lock that this process holds, until Release or until renewing it fails for as long as it lasts.
type Lock struct {
	locker     Locker
	id         string
	generation string // see Token
	created    bool   // by this process: nobody else had it
	lost       chan struct{}
	why        error              // that it is lost; set before lost is closed
	stop       context.CancelFunc // ends the renewing
	cut        context.CancelFunc // ends a renewal in flight
	done       sync.WaitGroup
	releasing  atomic.Bool
	released   chan struct{} // closed after it was given back

	turn chan struct{} // holds one while nobody renews it

	mu      sync.Mutex // for a moment only: no request is made meanwhile
	lease   *coordinationv1.Lease
	renewed time.Time // by the wall clock, which goes on while the host is suspended
	theirs  *theirs   // k8shell's lock, which is held beside this one; nil without
}

func (l Locker) hold(id string, lease *coordinationv1.Lease) *Lock {
	requests, cut := context.WithCancel(context.Background())
	renewing, stop := context.WithCancel(requests)
	held := &Lock{
		locker: l, id: id, lease: lease, generation: lease.ResourceVersion,
		lost: make(chan struct{}), released: make(chan struct{}), stop: stop, cut: cut, renewed: l.Now().Round(0),
		turn: make(chan struct{}, 1),
	}
	held.turn <- struct{}{}
	held.done.Go(func() { held.renew(renewing, requests) })
	return held
}

// Context is ctx as long as the lock is held. Once it could not be renewed in
// time, or another process took it, the context's cause is an ErrTaken.
func (h *Lock) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-h.lost:
			cancel(h.why)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Created is true if nobody had the lock when it was taken: its holder before has given
// it back, and so has done what it had to do.
func (h *Lock) Created() bool { return h.created }

// Confirm makes sure that this process still holds the lock, before it writes after
// a pause: a host that was suspended wakes up with an old lock.
func (h *Lock) Confirm(ctx context.Context) error {
	for {
		select {
		case <-h.lost:
			return h.why
		default:
		}
		if h.age() < Duration/2 {
			return nil
		}
		err := h.renewOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case h.age() > Duration && errors.Is(err, context.DeadlineExceeded):
			return unrenewed()
		case !errors.Is(err, context.DeadlineExceeded): // but the API server may just be slow
			return kube.Fault(err, h.locker.call("update", h.id))
		}
	}
}

// unrenewed is the error of a lock that may be another's now: nobody knows.
func unrenewed() error {
	err := fault.New(fault.Unavailable,
		"the API server did not renew the lock for %s, so another command may have taken it; what this one has "+
			"written so far stands, and it writes nothing more", Duration).
		WithHint("when the cluster answers, look at the status and run the command again")
	err.Err = ErrTaken
	return err
}

// age is the time since the last renewal.
func (h *Lock) age() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.locker.Now().Round(0).Sub(h.renewed)
}

// Release gives the lock back, after a renewal in flight: that changes the version that is deleted. A lock that was
// lost is left alone. Releasing it again waits for that alone.
func (h *Lock) Release(ctx context.Context) {
	if h.releasing.Swap(true) {
		<-h.released
		return
	}
	defer close(h.released)
	h.stop()
	defer h.cut()
	defer context.AfterFunc(ctx, h.cut)()
	h.done.Wait()
	select {
	case <-h.turn:
		if h.theirs != nil { // the second one first: nobody finds it with the first one free
			h.locker.remove(ctx, h.theirs.lease)
		}
		h.locker.remove(ctx, h.current())
	case <-ctx.Done():
	}
}

// current is the lease as it was written last.
func (h *Lock) current() *coordinationv1.Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lease
}

func (h *Lock) renew(renewing, requests context.Context) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-renewing.Done():
			return
		case <-ticker.C:
		}
		err := h.renewOnce(requests)
		switch {
		case err == nil:
		case requests.Err() != nil:
			return
		case errors.Is(err, ErrTaken):
			h.why = err
			close(h.lost)
			return
		case h.age() > Duration:
			h.why = unrenewed()
			close(h.lost)
			return
		}
	}
}

// ErrTaken is the error of a lock that another process holds now, or that is gone.
var ErrTaken = fault.New(fault.Conflict, "the lock was lost: another command has taken it").
	WithHint("run the command again to follow it")

func (h *Lock) renewOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	select {
	case <-h.turn:
		defer func() { h.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := h.renewTheirs(ctx); err != nil {
		return err
	}
	next := h.current().DeepCopy()
	now := metav1.NewMicroTime(h.locker.Now())
	next.Spec.RenewTime = &now
	lease, err := h.locker.Leases.Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		lease, err = h.readAgain(ctx)
	}
	if apierrors.IsNotFound(err) {
		return ErrTaken
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lease, h.renewed = lease, h.locker.Now().Round(0)
	return nil
}

// readAgain reads the lease again after a conflict. It may be ours: then an
// earlier renewal arrived and only its answer was lost.
func (h *Lock) readAgain(ctx context.Context) (*coordinationv1.Lease, error) {
	lease, err := h.locker.Leases.Get(ctx, h.current().Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if holder := identityIn(lease); holder != h.locker.Self.String() {
		return nil, TakenBy(Token{Holder: parseHolder(holder).Human()})
	}
	return lease, nil
}

// Token says under which lock something was written. The holder of a lock writes its lease, so the version of the lease
// at that moment is greater than that of every lock before it, also where the lease was deleted in between.
type Token struct {
	Generation string
	Holder     string // in words
}

// Token is that of this lock; empty if the API server gives its leases no versions.
func (h *Lock) Token() Token {
	if h == nil || h.generation == "" {
		return Token{}
	}
	return Token{Generation: h.generation, Holder: h.locker.Self.Human()}
}

// String is the token as it is written on an object. ParseToken reads it.
func (t Token) String() string { return strings.TrimSpace(t.Generation + " " + t.Holder) }

// maxHolder is how much is shown of the holder, which anybody can write, in bytes.
const maxHolder = 120

// ParseToken reads a token. What is not one has no generation.
func ParseToken(text string) Token {
	generation, holder, _ := strings.Cut(text, " ")
	if _, err := resourceversion.CompareResourceVersion(generation, generation); err != nil {
		return Token{}
	}
	holder = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '`' {
			return -1
		}
		return r
	}, holder)
	return Token{Generation: generation, Holder: fault.Shorten(holder, maxHolder)}
}

// After says whether a token is that of a newer lock. One that cannot be compared is not.
func (t Token) After(other Token) bool {
	order, err := resourceversion.CompareResourceVersion(t.Generation, other.Generation)
	return err == nil && order > 0
}

// Mark is the annotation that says under which lock an object was written last; the
// value is empty if that is not known.
func (h *Lock) Mark() (name, value string) { return kube.AnnotationLock, h.Token().String() }

// Check returns an error if what carries these annotations was written under a newer
// lock, which then is the one that is held.
func (h *Lock) Check(ctx context.Context, annotations map[string]string) error {
	found := ParseToken(annotations[kube.AnnotationLock])
	if !found.After(h.Token()) {
		return nil
	}
	// What was restored from another cluster has generations of that one.
	err := h.renewOnce(ctx)
	if errors.Is(err, ErrTaken) {
		return TakenBy(found)
	}
	return err
}

// TakenBy is ErrTaken, and says by whom as far as that is known.
func TakenBy(t Token) error {
	if t.Holder == "" {
		return ErrTaken
	}
	return &fault.Error{
		Code: ErrTaken.Code, Message: "the lock was lost: " + t.Holder + " has taken it",
		Hint: ErrTaken.Hint, Err: ErrTaken,
	}
}
