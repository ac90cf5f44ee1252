package exec

import (
	"cmp"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// failure says what kept a command from running, or from running to its end.
func failure(err error, client *kube.Client, r Request) error {
	switch text := errorText(err); {
	case err == nil:
		return nil
	case strings.Contains(text, "error dialing backend"):
		return fault.New(fault.Unavailable, "the node of workspace %s cannot be reached: %w", r.Pod, err).
			WithHint("see its state: %s", kube.Command("status", cmp.Or(r.ID, r.Pod), client.Namespace))
	case connectionLost(err, text):
		return fault.New(fault.Unavailable, "the connection to the API server was lost, and with it the command in workspace %s: %w", r.Pod, err).
			WithHint("it may still be running there: `%s` shows its processes", kube.Command("exec", cmp.Or(r.ID, r.Pod), client.Namespace, "--", "ps"))
	}
	failed := kube.Fault(err, kube.Call{Verb: "create", Resource: "pods/exec", Namespace: client.Namespace, Name: r.Pod})
	if fault.CodeOf(failed) == fault.Internal {
		return fault.New(fault.Internal, "cannot run the command in workspace %s: %w", r.Pod, err)
	}
	return failed
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// connectionLost is true if a command had been started and its connection broke off.
// client-go has no type for that: it is the error of reading the stream on which the
// exit status would have come, or that of the connection itself.
func connectionLost(err error, text string) bool {
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Op == "dial" {
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	for _, part := range []string{
		"error reading from error stream", "abnormal closure", "connection reset by peer", "use of closed network connection",
		"broken pipe", "connection closed", "unexpected EOF", "lost connection",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
