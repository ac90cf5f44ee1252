package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
)

// Call is a request to the API server, for the message of an error.
type Call struct {
	Verb, Resource, Namespace, Name string
}

func (c Call) String() string {
	s := c.Verb + " " + c.Resource
	if c.Name != "" {
		s += " " + c.Name
	}
	if c.Namespace != "" {
		s += " in namespace " + c.Namespace
	}
	return s
}

// Fault gives an error of the API server, or of the connection to it, a code, a message and a hint. Faults and the
// errors of contexts are returned without the address of the request.
func Fault(err error, call Call) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case isContextError(err):
		return innermost(err)
	case errors.As(err, &f):
		return innermost(err)
	case denied(err.Error()):
		message, _ := refusal(err)
		return refused(err, message, call)
	case isOfPlugin(err):
		return fault.New(fault.Unauthenticated, "cannot log in to the cluster: %w", innermost(err)).
			WithHint("run the credential plugin of the kubeconfig by itself (kubectl config view --minify), or " +
				"choose another context with --context")
	case apierrors.IsUnauthorized(err), isUnauthorizedStream(err):
		return fault.New(fault.Unauthenticated, "the cluster does not accept your credentials: %w", err).
			WithHint("log in again, or choose another context with --context")
	case apierrors.IsForbidden(err), isRefusedStream(err):
		return forbidden(err, call)
	case apierrors.IsNotFound(err):
		return notFound(err, call)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return fault.New(fault.Conflict, "cannot %s: %w", call, err).
			WithHint("it was changed at the same time by another client; try again")
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		message, _ := refusal(err)
		return refused(err, message, call)
	case strings.Contains(err.Error(), "failed calling webhook"):
		return fault.New(fault.Unavailable, "the cluster cannot %s: %w", call, err).
			WithHint("an admission webhook does not respond; ask your cluster administrator")
	case isFailing(err):
		return fault.New(fault.Unavailable, "the cluster cannot %s at the moment: %w", call, err).
			WithHint("it was asked several times; try again in a while, or see `kubectl get --raw /readyz?verbose`")
	case isUnreachable(err):
		return fault.New(fault.Unavailable, "the cluster cannot be reached: %w", innermost(err)).
			WithHint("check the network and the server of the current context (kubectl config view --minify)")
	default:
		return fault.New(fault.Internal, "cannot %s: %w", call, innermost(err))
	}
}

// isContextError reports whether an error is that of a context. errors.Is would take the time-out of a connection for
// one, too.
func isContextError(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if err == context.Canceled || err == context.DeadlineExceeded { //nolint:errorlint // see above
			return true
		}
	}
	return false
}

// isOfPlugin is true for the error of a credential plugin, for which client-go has no type.
func isOfPlugin(err error) bool { return strings.Contains(err.Error(), "getting credentials: ") }

// innermost is the error of a request without the addresses: one that was redirected, or sent by a plugin, has several.
func innermost(err error) error {
	for {
		request, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = request.Err
	}
}

// forbidden distinguishes a missing permission from an object that is refused: the API server answers both with 403.
func forbidden(err error, call Call) error {
	if message, is := refusal(err); is {
		return refused(err, message, call)
	}
	denied := fault.New(fault.PermissionDenied, "you may not %s: %w", call, err)
	if call.Namespace == "" {
		return denied.WithHint("ask for a ClusterRole with verb %q on %q; `berth help rbac` lists the "+
			"Roles of all commands", call.Verb, call.Resource)
	}
	return denied.WithHint("ask for a Role in namespace %q with verb %q on %q; `berth help rbac` lists the Roles of "+
		"all commands, `berth doctor` what else is missing", call.Namespace, call.Verb, call.Resource)
}

// isRefusedStream reports whether RBAC refused a stream, such as an exec, of which client-go returns a plain error.
func isRefusedStream(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unable to upgrade connection") && strings.Contains(text, "is forbidden")
}

// isUnauthorizedStream is the same where nobody was logged in.
func isUnauthorizedStream(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unable to upgrade connection") &&
		(strings.Contains(text, "Unauthorized") || strings.Contains(text, "HTTP 401"))
}

// IsNoObject tells an object that does not exist from a kind that does not, or not in that version: the answer about an
// object names it.
func IsNoObject(err error) bool {
	status, is := err.(apierrors.APIStatus)
	return is && apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// IsNamespaceMissing reports whether an object could not be created because its namespace does not exist.
func IsNamespaceMissing(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) &&
		status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

func notFound(err error, call Call) error {
	if IsNamespaceMissing(err) {
		return fault.New(fault.NotFound, "namespace %s does not exist: %w", call.Namespace, err).
			WithHint("create it with `kubectl create namespace %s` or with --create-namespace, or choose another "+
				"with --namespace", call.Namespace)
	}
	return fault.New(fault.NotFound, "cannot %s: %w", call, err)
}

// isFailing is true for the answers of an API server, or of a proxy before it, that is not able to do what it is asked,
// and may be later.
func isFailing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func isUnreachable(err error) bool {
	var netErr net.Error
	var urlErr *url.Error
	if strings.Contains(err.Error(), errPage.Error()) {
		return true
	}
	// client-go has no type for these: an answer that breaks off, and an upgrade to SPDY that gets none.
	brokenOff := strings.Contains(err.Error(), "when reading response body") ||
		strings.Contains(err.Error(), "error sending request: ")
	return errors.As(err, &netErr) || errors.As(err, &urlErr) || brokenOff || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.HasPrefix(err.Error(), "http2: ") || strings.HasPrefix(err.Error(), "stream error: ") ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err)
}

// refusal is why the API server rejects an object that the caller is allowed to send: a quota, a limit, admission, pod
// security, or an invalid field. False if err is something else.
//
// Authorization and admission both answer 403. Authorization says what a user cannot do; admission names the object
// that it forbids, or the webhook. Anything else, such as the answer of a proxy in between, is a denied access.
func refusal(err error) (message string, is bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	message = status.Status().Message
	switch {
	case denied(message), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return message, true
	case !apierrors.IsForbidden(err):
		return "", false
	case strings.Contains(message, "User \"") && strings.Contains(message, " cannot "):
		return "", false
	}
	return message, strings.Contains(message, " is forbidden: ")
}

// denied reports whether the message is that of an admission webhook, which may choose any status and reason.
func denied(message string) bool {
	return strings.Contains(message, "admission webhook ") && strings.Contains(message, "denied the request")
}

// Declined reports whether the API server has certainly not done what was asked: the request was not allowed, not valid
// or in conflict. After any other error the outcome is unknown.
func Declined(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// RefusedError is the error of an object that the API server rejects.
type RefusedError struct {
	Call Call
	// Message is what the API server said.
	Message string
	err     error
}

// Error is that of the API server.
func (e *RefusedError) Error() string { return e.err.Error() }

// Unwrap gives the API server's answer.
func (e *RefusedError) Unwrap() error { return e.err }

func refused(err error, message string, call Call) error {
	f := fault.New(fault.Failed, "the cluster refused to %s: %w", call, &RefusedError{call, message, err})
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		f.Message = "cannot " + call.String() + ": the namespace is being deleted"
		f.Err = err // nothing about the object itself
		return f.WithHint("choose another with --namespace, or wait until it is gone and create it with " +
			"--create-namespace")
	case call.Namespace == "":
		return f.WithHint("ask your cluster administrator")
	}
	return f.WithHint("change what the message names in the blueprint, or ask the administrator of namespace %s",
		call.Namespace)
}
