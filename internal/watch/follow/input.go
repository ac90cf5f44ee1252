package follow

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
)

// input is what comes from one source.
type input struct {
	*Follower
	source Source
	pods   bool // it is the source of the subject's pod
	opened bool
	ready  chan error // holds one: nil once the watch is open, or why it is not

	awaited []types.UID // of the list that was asked for last
}

func (in *input) run(ctx context.Context) {
	err := Reflect(ctx, in.source, in)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.opened {
		in.ready <- err
		return
	}
	if in.err == nil {
		in.err = err
	}
	in.signal()
}

// Listing notes which pods a list that is asked for now must have.
func (in *input) Listing() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pods {
		in.awaited = slices.Collect(maps.Keys(in.Follower.awaited))
	}
}

// Replace takes a list.
func (in *input) Replace(objects []runtime.Object, version string) {
	in.replace(objects, version, in.source.Covers, in.awaited)
}

// Apply takes a change.
func (in *input) Apply(change apiwatch.EventType, object runtime.Object) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, ok := object.(*corev1.Event); ok {
		in.pushEvent(in.state.Apply(change, object))
		return
	}
	in.push(in.state.Apply(change, object))
}

// Opened ends an outage.
func (in *input) Opened() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.outage.ended(in)
	in.signal()
	if !in.opened {
		in.opened = true
		in.ready <- nil
	}
}

// Interrupted begins an outage.
func (in *input) Interrupted(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.outage.began(in, err)
	in.signal()
}

// outage is the time in which a watch is interrupted. It is one outage for all
// of them, however often each is tried: it begins with the first that is
// interrupted and is over when all are open again.
type outage struct {
	down    map[*input]bool
	notices []v1.Progress // not handed out yet
}

// began reports an interruption, unless there is one already.
func (o *outage) began(in *input, err error) {
	if len(o.down) == 0 {
		o.down = map[*input]bool{}
		o.notices = append(o.notices, v1.Progress{Message: "connection lost, retrying: " + shortCause(err)})
	}
	o.down[in] = true
}

// ended reports that all watches are open again, or nothing if the interruption
// was not handed out yet.
func (o *outage) ended(in *input) {
	if !o.down[in] {
		return
	}
	delete(o.down, in)
	switch last := len(o.notices) - 1; {
	case len(o.down) > 0:
	case last >= 0:
		o.notices = o.notices[:last]
	default:
		o.notices = append(o.notices, v1.Progress{Message: "connection restored"})
	}
}

// shortCause is an error in a few words: where the API server is and what was
// asked of it is of no interest while waiting.
func shortCause(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "no answer within " + requestTime.String()
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return innermost(request.Err).Error()
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		if details := status.ErrStatus.Details; details != nil && len(details.Causes) > 0 {
			// An interrupted connection is an error of decoding to client-go.
			text := details.Causes[len(details.Causes)-1].Message
			return strings.TrimPrefix(text, "unable to decode an event from the watch stream: ")
		}
	}
	return err.Error()
}

func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
