package watch

import (
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Refusal is the cause of a pod that the API server did not take, from a
// controller or from whoever sent it, by what it said. The numbers are in a
// quota's message.
func Refusal(message, object string) *v1.Cause {
	code := CausePodRefused
	if strings.Contains(message, "exceeded quota") || strings.Contains(message, "failed quota") {
		code = CauseQuotaExceeded
	}
	return &v1.Cause{Code: code, Message: message, Object: object}
}

// Refused is the reading of a pod that does not exist because the API server
// did not take it, or something that it needs: nobody tries again by himself.
func Refused(message, object string, at time.Time) v1.Snapshot {
	return v1.Snapshot{Stage: v1.StageFailed, Status: v1.StageFailed.Status(), Since: at.UTC(), Cause: Refusal(message, object)}
}
