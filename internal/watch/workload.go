package watch

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

func analyzeWorkload(s State, p Policy, now time.Time) (v1.Snapshot, time.Time) {
	return v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StageUnknown.Status()}, time.Time{}
}
