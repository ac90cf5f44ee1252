package job

import (
	"strconv"
	"time"

	"github.com/berthdev/berth/internal/kube"
)

// Remains is how many records lie in a namespace of the cluster.
type Remains struct {
	// Kept have not expired, Expired are removed by the next command that writes
	// a record there.
	Kept, Expired int
	// Pending are those of Kept that belong into NATS.
	Pending int
}

// RemainsSelector selects the records of a namespace.
const RemainsSelector = kube.LabelJobID + "," + LabelExpires

// Count counts records by the labels of their ConfigMaps.
func Count(labels []map[string]string, now time.Time) (r Remains) {
	for _, l := range labels {
		at, err := strconv.ParseInt(l[LabelExpires], 10, 64)
		switch {
		case err == nil && now.Unix() > at:
			r.Expired++
			continue
		case l[LabelPendingMove] != "":
			r.Pending++
		}
		r.Kept++
	}
	return r
}
