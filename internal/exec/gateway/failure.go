package gateway

import (
	"crypto/tls"
	"errors"
	"net/http"
	"strings"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// failure says what kept a session from beginning, or from ending by itself.
func (g Gateway) failure(err error, t Destination) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if t.isOfRuntime(err) && exec.InWords(err) == http.StatusNotFound {
		return fault.New(fault.Unavailable,
			"gateway %s: the runtime of machine %s does not know the URL of the session", g.Name, t.Machine).
			WithHint("such a URL works once, for a minute: enter the machine again")
	}
	err = exec.Cause(err)
	if status, ok := exec.Refusal(err); ok {
		return g.refused(int(status.Code), status.Message, t, err)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fault.New(fault.Unavailable, "the certificate of gateway %s cannot be verified: %w", g.Name, err).
			WithHint("set ca of the gateway in the configuration to the CA that its administrator hands out")
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if ending, ok := endingOf(err.Error()); ok {
		return g.ended(ending, t)
	}
	if _, is := exec.Unsure(err); is {
		return fault.New(fault.Unavailable, "the session with %s through gateway %s %w", t, g.Name, err).
			WithReason(exec.ReasonUnsure).WithHint("%s", hintUnsure)
	}
	if exec.IsLost(err) {
		return fault.New(fault.Unavailable,
			"the connection to gateway %s was lost, and with it the session with %s: %w",
			g.Name, t, err).
			WithHint("what was started may still be running there; enter again to see")
	}
	failed := kube.Fault(err, kube.Call{
		Verb: "create", Resource: "workspaces.berth.dev/exec", Namespace: t.Namespace,
		Name: t.Workspace + t.Machine,
	})
	if fault.CodeOf(failed) == fault.Unavailable {
		return fault.New(fault.Unavailable, "gateway %s cannot be reached: %w", g.Name, err).
			WithHint("check the network, and the URL of the gateway in the configuration")
	}
	return fault.New(fault.Internal, "gateway %s: %w", g.Name, err)
}

// hintUnsure is what to do about a session of which it is not certain how it ended.
const hintUnsure = "see what has been done there before it is done again"

// ended is why a session that had begun is over, in the words of the gateway.
func (g Gateway) ended(ending *fault.Error, t Destination) error {
	if ending.Reason == exec.ReasonUnsure {
		return fault.New(ending.Code, "gateway %s: %s", g.Name, ending.Message).WithReason(ending.Reason).
			WithHint("%s", hintUnsure)
	}
	f := fault.New(ending.Code, "gateway %s has ended the session with %s: %s", g.Name, t, ending.Message).
		WithReason(ending.Reason)
	switch ending.Code {
	case fault.PermissionDenied:
		return f.WithHint("%s", t.permission())
	case fault.Unavailable:
		return f.WithHint("enter again; what was started may still be running there")
	case fault.Internal:
		return f.WithHint("the log of the gateway may say more")
	}
	return f
}

// refused is an answer of the gateway, in its words.
func (g Gateway) refused(code int, message string, t Destination, err error) error {
	switch code {
	case http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "gateway %s does not accept your credential: %s", g.Name, message).
			WithHint("renew it, or see where it comes from: gateways in the configuration")
	case http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "you may not enter %s through gateway %s: %s", t, g.Name, message).
			WithHint("%s", t.permission())
	case http.StatusNotFound:
		hint := "check the name, and the namespace (--namespace)"
		if !t.isMeant(message) { // it is about something else
			hint = "check the URL of the gateway in the configuration; it may also be of another version"
		}
		return fault.New(fault.NotFound, "gateway %s: %s", g.Name, message).WithHint("%s", hint)
	case http.StatusConflict:
		return fault.New(fault.Failed, "gateway %s: %s", g.Name, message)
	case http.StatusBadRequest:
		return fault.New(fault.InvalidArgument, "gateway %s: %s", g.Name, message)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fault.New(fault.Unavailable, "gateway %s: %s", g.Name, message).WithHint("try again in a while")
	}
	return fault.New(fault.Internal, "gateway %s: %w", g.Name, err)
}

// isMeant is true if a gateway speaks of this very object.
func (t Destination) isMeant(message string) bool {
	if t.Machine != "" {
		return exec.Means(message, "machine", t.Machine)
	}
	return exec.Means(message, "workspace", t.Workspace)
}

// isOfRuntime is true if the runtime of the machine has refused a session, which a gateway passes on in words.
func (t Destination) isOfRuntime(err error) bool {
	return t.Machine != "" && strings.Contains(err.Error()+" ", "the runtime of machine "+t.Machine+" ")
}

// permission is what to ask for.
func (t Destination) permission() string {
	if t.Machine != "" {
		return rbac.PoolHint()
	}
	return "ask for a RoleBinding to the ClusterRole " + rbac.WorkspaceUser + " in namespace " + t.Namespace
}

// Ending is how a gateway says on the error stream why a session has ended. Clients of
// Kubernetes are left with the message of the status that it is sent in, so that the code
// stands in front of the words, with the reason if there is one.
func Ending(err error) string {
	code := string(fault.CodeOf(err))
	if reason := fault.ReasonOf(err); reason != "" {
		code += "/" + reason
	}
	return code + ": " + fault.Line(err.Error())
}

// endingOf takes apart what Ending has put together. The error's message are the words.
func endingOf(message string) (ended *fault.Error, is bool) {
	first, words, found := strings.Cut(message, ": ")
	name, reason, _ := strings.Cut(first, "/")
	if !found {
		return nil, false
	}
	for _, row := range fault.Table() {
		for _, code := range row.Codes {
			if string(code) == name {
				return fault.New(code, "%s", words).WithReason(reason), true
			}
		}
	}
	return nil, false
}
