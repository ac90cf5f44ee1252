package watch

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Refused is the reading of a pod that does not exist because the API server did
// not accept it, or something that it needs: nobody tries again.
func Refused(message, object string, at time.Time) v1.Snapshot {
	return v1.Snapshot{Stage: v1.StageFailed, Status: v1.StageFailed.Status(), Since: at.UTC(), Cause: cause.Refusal(message, object)}
}
