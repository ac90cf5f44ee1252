package follow

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/fault"
)

// final is the error that it makes no sense to try again after: who asks may not,
// or the API server does not know what is asked for. Nil for one that may pass.
func (f *feed) final(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return f.fault(fault.PermissionDenied, err).
			WithHint("following needs the verbs list and watch on %s in namespace %s", f.Resource, f.Namespace)
	case apierrors.IsUnauthorized(err):
		return f.fault(fault.Unauthenticated, err)
	case apierrors.IsNotFound(err):
		return f.fault(fault.NotFound, err)
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err), apierrors.IsMethodNotSupported(err):
		return f.fault(fault.Internal, err)
	}
	return nil
}

func (f *feed) fault(code fault.Code, err error) *fault.Error {
	if err == nil { // the watch is closed as soon as it is open
		err = errors.New("the watch does not stay open")
	}
	return fault.New(code, "cannot %s %s in namespace %s: %w", f.verb, f.Resource, f.Namespace, err)
}
