package exec

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// Refusal is the answer of a server that has refused a session, if it is a Status.
func Refusal(err error) (status metav1.Status, is bool) {
	if upgrade, ok := errors.AsType[*httpstream.UpgradeFailureError](err); ok {
		err = upgrade.Cause // which it does not unwrap to
	}
	refused, is := errors.AsType[*apierrors.StatusError](err)
	if !is {
		return metav1.Status{}, false
	}
	return refused.ErrStatus, true
}
