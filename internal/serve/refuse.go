package serve

import (
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
)

// Refuse answers with a status and one line that says why. Who asks for another protocol is a
// client of Kubernetes, which reads a Status.
func Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	why = fault.Line(why)
	if r.Header.Get("Upgrade") == "" {
		http.Error(w, why, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Message: why, Reason: reason(status), Code: int32(status), //nolint:gosec // a status of HTTP
	})
}

// reason is what clients tell a status by.
func reason(status int) metav1.StatusReason {
	switch status {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusMethodNotAllowed:
		return metav1.StatusReasonMethodNotAllowed
	}
	return metav1.StatusReasonUnknown
}
