// Package job keeps the record of one provisioning: every change of stage and
// every event of Kubernetes, written as it happens, off the critical path, to
// NATS or to a ConfigMap of the cluster.
//
// The record is one document. What happens is taken into it in memory, which
// is the queue; the newest state is written whenever the write before is done. In NATS it has
// an entry for each change of stage and each event; for a ConfigMap what is alike is folded.
package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Record is what is known of one job, as it is stored. Its JSON is a contract
// with everything else that reads and writes such records.
type Record struct {
	// ID is a UUID: the label job-id of the pod, and the key in the store.
	ID string `json:"id"`
	// WorkspaceName is the canonical ID of the workspace.
	WorkspaceName string `json:"workspaceName"`
	// UserString is the workspace's: two may have one ID. Empty if it is not known.
	UserString string        `json:"userString,omitempty"`
	Username   string        `json:"username"`
	Status     v1.JobStatus  `json:"status"`
	CreatedAt  time.Time     `json:"createdAt"`
	UpdatedAt  time.Time     `json:"updatedAt"`
	FinishedAt *time.Time    `json:"finishedAt"`
	Events     []v1.JobEvent `json:"events"`
	// Blueprint, Node, Image and Cause are what v1.Job says; records of earlier versions
	// have none of them.
	Blueprint string `json:"blueprint,omitempty"`
	Node      string `json:"node,omitempty"`
	Image     string `json:"image,omitempty"`
	Cause     string `json:"cause,omitempty"`

	// apart is true where entries that are alike are kept one by one: in NATS.
	apart bool
	// abandoned is true if nobody works on the job any more, whatever its status says.
	abandoned bool
}

// Encode is the stored form.
func (r Record) Encode() ([]byte, error) {
	if r.Events == nil {
		r.Events = []v1.JobEvent{}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("job record %s: %w", r.ID, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// After is the record that continues an earlier one of the same job, when a
// run took the job over from one that was cut off.
func (r Record) After(earlier Record) Record {
	if earlier.ID == "" {
		return r
	}
	whole := earlier
	whole.apart = r.apart
	whole = whole.addAll(r.Events)
	whole.ID, whole.WorkspaceName, whole.UserString, whole.Username = r.ID, r.WorkspaceName, r.UserString, r.Username
	whole.Status, whole.FinishedAt, whole.UpdatedAt = r.Status, r.FinishedAt, r.UpdatedAt
	whole.Blueprint, whole.Node = cmp.Or(r.Blueprint, whole.Blueprint), cmp.Or(r.Node, whole.Node)
	whole.Image, whole.Cause = cmp.Or(r.Image, whole.Image), r.Cause
	return whole
}

// nextID is the ID of the entry to come.
func (r Record) nextID() string {
	for _, e := range slices.Backward(r.Events) {
		if n, err := strconv.Atoi(e.ID); err == nil {
			return strconv.Itoa(n + 1)
		}
	}
	return strconv.Itoa(len(r.Events) + 1)
}
