package exec

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// Refusal is the answer of a server that has refused a session, if it is a Status.
func Refusal(err error) (status metav1.Status, is bool) {
	refused, is := errors.AsType[*apierrors.StatusError](Cause(err))
	if !is {
		return metav1.Status{}, false
	}
	return refused.ErrStatus, true
}

// Cause is why a connection could not become a session: the error of that does not unwrap.
func Cause(err error) error {
	if upgrade, ok := errors.AsType[*httpstream.UpgradeFailureError](err); ok {
		return upgrade.Cause
	}
	return err
}
