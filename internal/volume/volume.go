// Package volume says what scratch volumes are: directories of a node that
// outlive their pod for a while. The driver and those who ask it share it.
package volume

import (
	"context"
	"io"
	"strings"
	"time"
)

// DriverName is the name of the CSI driver, unless it is told another one.
const DriverName = "scratch.berth.dev"

// Namespace is where the driver runs, unless it is told another one: one of its own, as its
// pods are privileged and anyone who may exec into them reads every volume.
const Namespace = "berth-volumes"

// Directory is where the driver has the volumes of a node, unless it is told another one.
const Directory = "/var/lib/berth-scratch"

// Socket is the name of the socket in that directory on which the driver answers administrators.
const Socket = "admin.sock"

// The attributes of a scratch volume in a pod, volumeAttributes. Anyone who writes the
// pod chooses them, so that they are not to be trusted.
const (
	// AttributeAfterlife is how long the data outlives the pod, a duration as Go
	// writes them, never longer than that of the node.
	AttributeAfterlife = "afterlife"
	// AttributeStorage is the name of the storage in the blueprint.
	AttributeStorage = "storage"
	// AttributeWorkspace is the ID of the workspace.
	AttributeWorkspace = "workspace"
	// AttributeUserString is the user string of the workspace.
	AttributeUserString = "userString"
	// AttributeSize is refused: there is no quota behind it.
	AttributeSize = "size"
)

// Volume is one scratch volume of a node.
type Volume struct {
	// ID is that of the kubelet, unique on its node.
	ID string
	// Namespace, Pod and PodUID are those of the pod that it was made for.
	Namespace, Pod, PodUID string
	// Workspace, UserString and Storage are what the pod said; empty if it is not one of berth.
	Workspace, UserString, Storage string
	// Published is when it was made.
	Published time.Time
	// Deleted is when its pod went; zero while the pod uses it.
	Deleted time.Time
	// Lifespan is how long it stays after that without pressure.
	Lifespan time.Duration
	// Bytes and Inodes are what it takes on the disk; -1 as long as it is not measured.
	Bytes, Inodes int64
	// Failure is why it could not be removed when it was due; it is tried again.
	Failure string
}

// longestID is how long the ID of a volume is at most, in bytes: it is the name of a directory,
// with room for what is put before it.
const longestID = 240

// IsID says whether a text can be the ID of a volume, or of a pod: a single element of a path,
// which can be the name of a directory of volumes. Hidden ones are the driver's own.
func IsID(id string) bool {
	return id != "" && len(id) <= longestID && id[0] != '.' && !strings.ContainsAny(id, "/\x00")
}

// Picture is what a node has at one moment.
type Picture struct {
	Node string
	// Now is the clock of the node.
	Now time.Time
	// Factor is by how much pressure shortens every lifespan: 1 without pressure, 0 on a full disk.
	Factor float64
	// Free and Total are bytes of the disk that the volumes are on, and Headroom the part of it that is to be free.
	Free, Total int64
	Headroom    float64
	// Volumes are those in their afterlife, the oldest first.
	Volumes []Volume
	// Used is how many volumes pods use.
	Used int
}

// Due is when a volume goes if the factor stays as it is.
func (p Picture) Due(v Volume) time.Time { return Due(v.Deleted, v.Lifespan, p.Factor) }

// Due is when the data of a volume goes that was deleted then, while pressure shortens lifespans by a factor.
func Due(deleted time.Time, lifespan time.Duration, factor float64) time.Time {
	if factor < 1 {
		lifespan = time.Duration(float64(lifespan) * factor)
	}
	return deleted.Add(lifespan)
}

// Node is the driver of a node as an administrator sees it.
type Node interface {
	// Picture lists what is in its afterlife.
	Picture(ctx context.Context) (Picture, error)
	// Archive writes the files of a volume in its afterlife as a tar stream. It is not removed meanwhile.
	Archive(ctx context.Context, id string, to io.Writer) error
	// Purge removes a volume in its afterlife now.
	Purge(ctx context.Context, id string) error
}
