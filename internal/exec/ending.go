package exec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	clientexec "k8s.io/client-go/util/exec"

	"github.com/berthdev/berth/internal/fault"
)

// ReasonUnsure is the reason of the errors about sessions of which it is not certain how they ended.
const ReasonUnsure = "STATUS_UNKNOWN"

// unsureError is the end of a session of which nothing was said, or behind which output may be missing.
type unsureError struct {
	how string // the predicate of a sentence about the session, which has no addresses
	error
}

func (u unsureError) Error() string {
	if u.error == nil {
		return u.how
	}
	return u.how + ": " + u.error.Error()
}

func (u unsureError) Unwrap() error { return u.error }

// Unsure says how a session ended of which it is not certain how: the predicate of a sentence, "ended without saying
// how". That is no success, whatever had been printed before.
func Unsure(err error) (how string, is bool) {
	u, is := errors.AsType[unsureError](err)
	return u.how, is
}

// unsaid is the end of a session without a status, or with one that is not whole.
func unsaid(err error) error { return unsureError{"ended without saying how", err} }

// lostError is that of a connection that broke off.
type lostError struct{ error }

func (l lostError) Unwrap() error { return l.error }

// unbegunError is that of a connection on which no session has begun.
type unbegunError struct{ error }

func (u unbegunError) Unwrap() error { return u.error }

// brokenOff is the end of a connection that the server has not closed, with what it had said of the end by then.
func brokenOff(err error, status []byte) error {
	end := statusOf(status)
	if _, is := Unsure(end); is {
		return lostError{err}
	}
	how := "succeeded"
	if exit, is := errors.AsType[clientexec.CodeExitError](end); is {
		how = fmt.Sprintf("ended with exit status %d", exit.Code)
	} else if end != nil {
		how = "failed"
	}
	return unsureError{how + ", but its connection broke off: the end of its output may be missing", err}
}

// IsLost is true if a session had begun and its connection broke off. What a server says of a connection behind it is
// only in its words.
func IsLost(err error) bool {
	if err == nil {
		return false
	}
	_, unbegun := errors.AsType[unbegunError](err)
	_, unsure := errors.AsType[unsureError](err)
	if operation, ok := errors.AsType[*net.OpError](err); unbegun || unsure || ok && operation.Op == "dial" {
		return false
	}
	if _, lost := errors.AsType[lostError](err); lost || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	for _, part := range []string{
		"error reading from error stream", "abnormal closure", "connection reset by peer",
		"use of closed network connection",
		"broken pipe", "connection closed", "unexpected EOF", "lost connection",
	} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}

// statusOf reads the Status with which a command has ended. It is nil for success alone: client-go takes it for one if
// nothing is said.
func statusOf(text []byte) error {
	if len(text) == 0 {
		return unsaid(nil)
	}
	var status metav1.Status
	if err := json.Unmarshal(text, &status); err != nil {
		return unsaid(fmt.Errorf("its status cannot be read: %w", err))
	}
	switch {
	case status.Status == metav1.StatusSuccess:
		return nil
	case status.Status != metav1.StatusFailure:
		return unsaid(fmt.Errorf("its status is %q", status.Status))
	case status.Reason == remotecommand.NonZeroExitCodeReason && status.Details != nil:
		for _, cause := range status.Details.Causes {
			if cause.Type != remotecommand.ExitCodeCauseType {
				continue
			}
			code, err := strconv.ParseUint(cause.Message, 10, 8)
			if err != nil || code == 0 {
				return fmt.Errorf("invalid exit code %q from the server", cause.Message)
			}
			return clientexec.CodeExitError{Err: errors.New(status.Message), Code: int(code)}
		}
	}
	return errors.New(cmp.Or(status.Message, "the server says that the command failed, and not why"))
}

// withOutput is how a command ended, with the first error of writing its output: where output is missing, nothing has
// succeeded.
func withOutput(end, failed error) error {
	if end == nil && failed != nil && !isGone(failed) {
		return fmt.Errorf("write the output: %w", failed)
	}
	return end
}

// isGone is true for the error of writing to a reader that has gone, such as head.
func isGone(err error) bool { return fault.IsBrokenPipe(err) || errors.Is(err, io.ErrClosedPipe) }
