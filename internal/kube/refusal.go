package kube

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
)

// Refusal is why the API server does not take an object although the caller may
// send it: a quota, a limit, admission, pod security, or what is not valid. False
// if err is something else.
//
// Authorization and admission answer 403 alike. Authorization says what a user
// cannot do; admission names the object that it forbids, or the webhook. What
// speaks otherwise, such as a proxy in between, denies the access.
func Refusal(err error) (message string, refused bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	message = status.Status().Message
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return message, true
	case !apierrors.IsForbidden(err):
		return "", false
	case strings.Contains(message, "User \"") && strings.Contains(message, " cannot "):
		return "", false
	}
	return message, strings.Contains(message, " is forbidden: ") || strings.Contains(message, "denied the request")
}

func refusal(err error, call Call) error {
	f := fault.New(fault.Failed, "the cluster refused to %s: %w", call, err)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		f.Message = "cannot " + call.String() + ": the namespace is being deleted"
		return f.WithHint("choose another with --namespace, or try again when it is gone: `berth provision --create-namespace` makes it anew")
	case apierrors.IsForbidden(err):
		return f.WithHint("ask for less in the blueprint, or talk to who administers namespace %s", call.Namespace)
	}
	return f
}
