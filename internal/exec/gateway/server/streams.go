package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/fault"
)

// streams are what a client has opened.
type streams struct {
	stdin          io.Reader // nil where there is none
	stdout, stderr io.Writer
	resize         io.Reader
	status         io.Writer
	// typed is true where the status is a document, and not only a message.
	typed bool
	// close ends the streams.
	close func()
}

// timeouts are those of streams.
type timeouts struct{ idle, creation time.Duration }

// accept opens the streams that the options ask for, over the protocol that the client asks
// for. A client that is not served has been answered.
func accept(w *hijacked, r *http.Request, o Options, t timeouts) (*streams, error) {
	if wsstream.IsWebSocketRequest(r) {
		return acceptWebSocket(w, r, o, t)
	}
	return acceptSPDY(w, r, o, t)
}

// finish says how a command ended.
func (s *streams) finish(status int, err error) {
	answer := statusOf(status, err)
	if !s.typed {
		if answer.Status == metav1.StatusFailure {
			_, _ = io.WriteString(s.status, answer.Message)
		}
		return
	}
	text, _ := json.Marshal(answer) // a struct of strings
	_, _ = s.status.Write(text)
}

// statusOf is how a command ended, as the kubelet says it.
func statusOf(status int, err error) metav1.Status {
	switch {
	case err != nil:
		ended := failure(err)
		ended.Message = gateway.Ending(err)
		return ended
	case status != 0:
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: remoteStatus,
			Message: "command terminated with non-zero exit code: " + strconv.Itoa(status),
			Details: &metav1.StatusDetails{
				Causes: []metav1.StatusCause{{Type: "ExitCode", Message: strconv.Itoa(status)}},
			},
		}
	}
	return metav1.Status{Status: metav1.StatusSuccess}
}

const remoteStatus metav1.StatusReason = "NonZeroExitCode"

// failure is an error as the API server would say it.
func failure(err error) metav1.Status {
	code, reason := http.StatusInternalServerError, metav1.StatusReasonInternalError
	switch fault.CodeOf(err) {
	case fault.InvalidArgument:
		code, reason = http.StatusBadRequest, metav1.StatusReasonBadRequest
	case fault.PermissionDenied, fault.Unauthenticated:
		code, reason = http.StatusForbidden, metav1.StatusReasonForbidden
	case fault.NotFound:
		code, reason = http.StatusNotFound, metav1.StatusReasonNotFound
	case fault.Failed, fault.Conflict:
		code, reason = http.StatusConflict, metav1.StatusReasonConflict
	case fault.Unavailable:
		code, reason = http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable
	}
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: reason, Message: fault.Line(err.Error()), Code: int32(code),
		//nolint:gosec // a status of HTTP
	}
}

// sizes are the sizes of a terminal, as a client sends them.
type sizes struct{ decoder *json.Decoder }

func (s sizes) Next() *remotecommand.TerminalSize {
	var size remotecommand.TerminalSize
	if err := s.decoder.Decode(&size); err != nil {
		return nil
	}
	return &size
}

// output copies with small buffers.
type output struct {
	io.Writer
	buffers *buffers
}

func (o output) ReadFrom(r io.Reader) (int64, error) { return o.buffers.copy(o.Writer, r) }
