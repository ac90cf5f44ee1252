// Package queue keeps durably which scratch volumes a node has, those that pods use and
// those in their afterlife, and decides which of the latter go.
package queue

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/internal/volume"
)

// Disk is what the disk of the volumes has at one moment.
type Disk struct {
	// Free, Total and Used are bytes; what is reserved for the system is none of free and used.
	Free, Total, Used int64
	// FreeInodes and Inodes count files; Inodes is 0 on a file system that has no limit.
	FreeInodes, Inodes int64
}

// Factor is by how much pressure shortens every lifespan. A disk without inodes is as
// full as one without bytes: what is scarcer counts.
func (d Disk) Factor(headroom float64) float64 {
	factor := Factor(d.Free, d.Total, headroom)
	if d.Inodes > 0 {
		factor = min(factor, Factor(d.FreeInodes, d.Inodes, headroom))
	}
	return factor
}

// Factor is 1 while at least the headroom is free, which is a part of the total, else
// what part of the headroom is.
func Factor(free, total int64, headroom float64) float64 {
	wanted := wanted(total, headroom)
	if free >= wanted {
		return 1
	}
	return float64(max(free, 0)) / float64(wanted)
}

// wanted is ceil(total × headroom), of the headroom as it is written in decimal: the
// product of two floating-point numbers can be a little more than a whole number.
func wanted(total int64, headroom float64) int64 {
	part, _ := new(big.Rat).SetString(strconv.FormatFloat(headroom, 'f', -1, 64))
	part.Mul(part, new(big.Rat).SetInt64(total))
	whole, rest := new(big.Int).QuoRem(part.Num(), part.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64()
}

// Due says whether a volume that was deleted then is to go now: strictly later than its
// lifespan, shortened by the factor, after its deletion.
func Due(deleted time.Time, lifespan time.Duration, factor float64, now time.Time) bool {
	return now.After(volume.Due(deleted, lifespan, factor))
}

// Lifespan is how long the data of a volume outlives its pod: what the pod asks for, but
// never longer than the node allows.
func Lifespan(asked *time.Duration, node time.Duration) time.Duration {
	if asked == nil {
		return node
	}
	return min(*asked, node)
}

// Backoff is how long after so many failures in a row removing is tried again.
func Backoff(failures int) time.Duration {
	const first, most = 5 * time.Second, 10 * time.Minute
	wait := first
	for range failures - 1 {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}

// due are the volumes that are to go, the oldest first; order has the oldest first.
func due(order []*entry, factor float64, now time.Time) []volume.Volume {
	var found []volume.Volume
	for _, e := range order {
		if Due(e.Deleted, e.Lifespan, factor, now) && !now.Before(e.retry) {
			found = append(found, e.Volume)
		}
	}
	return found
}

// older is the order of the queue: by the time of deletion, and by ID where that is the same.
func older(a, b *entry) int {
	return cmp.Or(a.Deleted.Compare(b.Deleted), cmp.Compare(a.ID, b.ID))
}

// place is where an entry is in the order, or would be.
func place(order []*entry, e *entry) int {
	at, _ := slices.BinarySearchFunc(order, e, older)
	return at
}
