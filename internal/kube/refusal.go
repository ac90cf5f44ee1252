package kube

import (
	"errors"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
)

// refusal is why the API server rejects an object that the caller is allowed to
// send: a quota, a limit, admission, pod security, or an invalid field. False if
// err is something else.
//
// Authorization and admission both answer 403. Authorization says what a user
// cannot do; admission names the object that it forbids, or the webhook. Anything
// else, such as the answer of a proxy in between, is a denied access.
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

// denied reports whether the message is that of an admission webhook, which may
// choose any status and reason.
func denied(message string) bool {
	return strings.Contains(message, "admission webhook ") && strings.Contains(message, "denied the request")
}

// Declined reports whether the API server has certainly not done what was asked:
// the request was not allowed, not valid or in conflict. After any other error the
// outcome is unknown.
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
		return f.WithHint("choose another with --namespace, or wait until it is gone and create it with --create-namespace")
	case call.Namespace == "":
		return f.WithHint("ask your cluster administrator")
	}
	return f.WithHint("change what the message names in the blueprint, or ask the administrator of namespace %s",
		call.Namespace)
}
