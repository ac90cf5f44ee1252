package serve

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Refuse answers with a status and one line that says why. A request for another protocol is
// that of a client of Kubernetes, which reads a Status.
func Refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	why = fault.Line(why)
	if r.Header.Get("Upgrade") == "" {
		http.Error(w, why, status)
		return
	}
	RefuseWith(w, metav1.Status{
		Status: metav1.StatusFailure, Message: why, Reason: reason(status),
		Code: int32(status),
	}) //nolint:gosec // a status of HTTP
}

// RefuseWith answers with a Status. Its group tells clients that it is berth's answer, and not
// that of a proxy on the way which knows only older protocols.
func RefuseWith(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Details = &metav1.StatusDetails{Group: kube.Group}
	if wait, err := strconv.ParseInt(w.Header().Get("Retry-After"), 10, 32); err == nil {
		status.Details.RetryAfterSeconds = int32(wait) // for those who get no headers of a refused WebSocket
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
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
