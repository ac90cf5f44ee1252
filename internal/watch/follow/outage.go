package follow

import (
	"context"
	"errors"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/berthdev/berth/api/v1"
)

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
