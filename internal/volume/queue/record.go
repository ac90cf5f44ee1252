package queue

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/volume"
)

// Record is what is kept of a volume.
type Record struct {
	volume.Volume
	// Target is where the kubelet has it.
	Target string
}

// Waits says whether it is in its afterlife.
func (r Record) Waits() bool { return !r.Deleted.IsZero() }

// stored is a record on disk. Fields may be added, never changed.
type stored struct {
	ID         string    `json:"id"`
	PodUID     string    `json:"podUID"`
	Namespace  string    `json:"namespace,omitempty"`
	Pod        string    `json:"pod,omitempty"`
	Workspace  string    `json:"workspace,omitempty"`
	UserString string    `json:"userString,omitempty"`
	Storage    string    `json:"storage,omitempty"`
	Target     string    `json:"target,omitempty"`
	Published  time.Time `json:"published,omitzero"`
	Deleted    time.Time `json:"deleted,omitzero"`
	Lifespan   string    `json:"lifespan"`
	Bytes      int64     `json:"bytes"`
	Inodes     int64     `json:"inodes"`
}

func encode(r Record) ([]byte, error) {
	return json.Marshal(stored{
		ID: r.ID, PodUID: r.PodUID, Namespace: r.Namespace, Pod: r.Pod, Workspace: r.Workspace, UserString: r.UserString,
		Storage: r.Storage, Target: r.Target, Published: r.Published, Deleted: r.Deleted, Lifespan: r.Lifespan.String(),
		Bytes: r.Bytes, Inodes: r.Inodes,
	})
}

// decode reads what was stored under an ID. What names another directory than one of a
// volume is not a record.
func decode(id string, text []byte) (Record, error) {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return Record{}, err
	}
	lifespan, err := time.ParseDuration(s.Lifespan)
	switch {
	case err != nil:
		return Record{}, err
	case lifespan < 0:
		return Record{}, fmt.Errorf("lifespan %s is negative", lifespan)
	case s.ID != id:
		return Record{}, fmt.Errorf("it is of volume %q", s.ID)
	case !volume.IsID(s.ID) || !volume.IsID(s.PodUID):
		return Record{}, fmt.Errorf("%q of pod %q is not the name of a directory", s.ID, s.PodUID)
	}
	return Record{Volume: volume.Volume{
		ID: s.ID, PodUID: s.PodUID, Namespace: s.Namespace, Pod: s.Pod, Workspace: s.Workspace, UserString: s.UserString,
		Storage: s.Storage, Published: s.Published, Deleted: s.Deleted, Lifespan: lifespan, Bytes: s.Bytes, Inodes: s.Inodes,
	}, Target: s.Target}, nil
}
