package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// wireRecord is a record as it is stored: as k8shell's provisioner writes it, so that its API server and its command
// line read ours, with what berth adds in fields that they ignore. docs/design/jobs.md has the rules.
type wireRecord struct {
	ID            string       `json:"id"`
	WorkspaceName string       `json:"workspaceName"`
	UserString    string       `json:"userString,omitempty"`
	Username      string       `json:"username"`
	Status        v1.JobStatus `json:"status"`
	CreatedAt     time.Time    `json:"createdAt"`
	UpdatedAt     time.Time    `json:"updatedAt"`
	FinishedAt    time.Time    `json:"finishedAt"` // the zero time while the job runs; null is read as well
	Events        []wireEvent  `json:"events"`
	Blueprint     string       `json:"blueprint,omitempty"`
	Node          string       `json:"node,omitempty"`
	Image         string       `json:"image,omitempty"`
	Cause         string       `json:"cause,omitempty"`
}

// wireEvent is an entry as k8shell has it.
type wireEvent struct {
	ID         wireID          `json:"id"`
	Type       v1.JobEventType `json:"type"`
	Timestamp  wireTime        `json:"timestamp"`
	ObjectName string          `json:"objectName"`
	Message    string          `json:"message"`
	Status     string          `json:"status"`
	Own        *ownEvent       `json:"berth,omitempty"`
	// Entries of berth before it wrote this form have these here.
	BeganAt time.Time `json:"beganAt,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
}

// ownEvent is what berth's entry has and k8shell's has no room for: a field is absent if k8shell's says the same.
type ownEvent struct {
	At         time.Time       `json:"at,omitzero"`
	Type       v1.JobEventType `json:"type,omitempty"`
	ObjectName *string         `json:"objectName,omitempty"`
	Message    *string         `json:"message,omitempty"`
	Status     *string         `json:"status,omitempty"`
	BeganAt    time.Time       `json:"beganAt,omitzero"`
	Seconds    float64         `json:"seconds,omitempty"`
}

// wireID is the number of an entry. Earlier records of berth have it as a string.
type wireID string

// MarshalJSON writes the number.
func (id wireID) MarshalJSON() ([]byte, error) {
	n, err := strconv.Atoi(string(id))
	if err != nil {
		return json.Marshal(string(id))
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}

// UnmarshalJSON reads a number or a string.
func (id *wireID) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err == nil {
		*id = wireID(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(text, &n); err != nil {
		return errors.New("the ID of an entry is neither a number nor a string")
	}
	*id = wireID(n.String())
	return nil
}

// wireTime is the time of an entry: to the second, without a zone, as the clock of its writer shows it. Ours is UTC.
type wireTime struct {
	time.Time
	hasZone bool // it is from an earlier record of berth, with its zone
}

const wireTimeLayout = "2006-01-02 15:04:05"

// MarshalJSON writes the time of day in UTC.
func (t wireTime) MarshalJSON() ([]byte, error) { return json.Marshal(t.UTC().Format(wireTimeLayout)) }

// UnmarshalJSON reads a time without a zone as if it were in UTC; in leaves to its caller what zone that was.
func (t *wireTime) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return errors.New("the time of an entry is not a string")
	}
	if s == "" {
		return nil
	}
	at, err := time.Parse(wireTimeLayout, s)
	if err != nil {
		t.hasZone = true
		at, err = time.Parse(time.RFC3339Nano, s)
	}
	t.Time = at
	return err
}

// Encode is the stored form.
func (r Record) Encode() ([]byte, error) {
	w := wireRecord{
		ID: r.ID, WorkspaceName: r.WorkspaceName, UserString: r.UserString, Username: r.Username, Status: r.Status,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Events: make([]wireEvent, len(r.Events)),
		Blueprint: r.Blueprint, Node: r.Node, Image: r.Image, Cause: r.Cause,
	}
	if r.FinishedAt != nil {
		w.FinishedAt = *r.FinishedAt
	}
	percent := 0
	for i, e := range r.Events {
		if isStatus(e) {
			percent = percentOf(stageOf(e))
		}
		w.Events[i] = toWire(e, r.WorkspaceName, percent)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(w); err != nil {
		return nil, fmt.Errorf("job record %s: %w", r.ID, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unmarshal reads the stored form, of whichever program.
func unmarshal(text []byte) (Record, error) {
	var w wireRecord
	if err := json.Unmarshal(text, &w); err != nil {
		return Record{}, err
	}
	r := Record{
		ID: w.ID, WorkspaceName: w.WorkspaceName, UserString: w.UserString, Username: w.Username, Status: w.Status,
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
		Blueprint: w.Blueprint, Node: w.Node, Image: w.Image, Cause: w.Cause,
	}
	if !w.FinishedAt.IsZero() {
		r.FinishedAt = &w.FinishedAt
	}
	zone := zoneOf(w)
	for _, e := range w.Events {
		own := fromWire(e)
		if e.Own == nil && !e.Timestamp.hasZone && !e.Timestamp.IsZero() {
			own.Timestamp = own.Timestamp.Add(-zone)
		}
		r.Events = append(r.Events, own)
	}
	return r, nil
}

// zoneOf is how far the writer's clock was ahead of UTC: its first entry was written when it began with the job, and
// zones differ by quarters of an hour.
func zoneOf(w wireRecord) time.Duration {
	const quarter = 15 * time.Minute
	for _, e := range w.Events {
		if e.Own == nil && !e.Timestamp.hasZone && !e.Timestamp.IsZero() {
			if ahead := e.Timestamp.Sub(w.CreatedAt).Round(quarter); ahead.Abs() <= 14*time.Hour {
				return ahead
			}
			return 0
		}
	}
	return 0
}

// toWire is an entry in k8shell's form, with what that has no room for.
func toWire(e v1.JobEvent, workspace string, percent int) wireEvent {
	w := wireEvent{
		ID: wireID(e.ID), Type: e.Type, Timestamp: wireTime{Time: e.Timestamp},
		ObjectName: e.ObjectName, Message: e.Message, Status: e.Status,
	}
	switch {
	case isStatus(e):
		w.ObjectName, w.Status = strings.TrimPrefix(e.ObjectName, podPrefix), statusWord(stageOf(e))
	case isResult(e) && e.Status != StatusOK:
		w.Type, w.ObjectName, w.Status = v1.JobEventStatus, workspace, wordError
	case e.Type == v1.JobEventProgress:
		if isResult(e) {
			percent = 100
		}
		w.Status, w.Message = strconv.Itoa(percent), fmt.Sprintf("%d%% complete", percent)
	case e.Type == v1.JobEventKubernetes:
		w.ObjectName = swapPrefix(e.ObjectName, 0, 1)
	}
	w.Own = ownOf(e, fromWire(w))
	return w
}

// ownOf is where an entry differs from what is read from k8shell's form of it.
func ownOf(e, read v1.JobEvent) *ownEvent {
	own := ownEvent{At: e.Timestamp, BeganAt: e.BeganAt, Seconds: e.Seconds}
	if e.Type != read.Type {
		own.Type = e.Type
	}
	differs := func(mine, theirs string) *string {
		if mine == theirs {
			return nil
		}
		return &mine
	}
	own.ObjectName, own.Message = differs(e.ObjectName, read.ObjectName), differs(e.Message, read.Message)
	own.Status = differs(e.Status, read.Status)
	return &own
}

// fromWire is an entry as berth has it; the time of another program's is still by its clock.
func fromWire(w wireEvent) v1.JobEvent {
	e := v1.JobEvent{
		ID: string(w.ID), Type: w.Type, Timestamp: w.Timestamp.Time,
		ObjectName: w.ObjectName, Message: w.Message, Status: w.Status, BeganAt: w.BeganAt, Seconds: w.Seconds,
	}
	switch e.Type {
	case v1.JobEventStatus:
		if !strings.Contains(e.ObjectName, "/") {
			e.ObjectName = podPrefix + e.ObjectName
		}
		e.Status = cmp.Or(words()[e.Status], e.Status)
	case v1.JobEventKubernetes:
		e.ObjectName = swapPrefix(e.ObjectName, 1, 0)
	}
	if own := w.Own; own != nil {
		e.Type = cmp.Or(own.Type, e.Type)
		e.Timestamp, e.BeganAt, e.Seconds = own.At, own.BeganAt, own.Seconds
		e.ObjectName, e.Message = orElse(own.ObjectName, e.ObjectName), orElse(own.Message, e.Message)
		e.Status = orElse(own.Status, e.Status)
	}
	return e
}

func orElse(own *string, theirs string) string {
	if own != nil {
		return *own
	}
	return theirs
}

const podPrefix = "pod/"

// swapPrefix writes the kind that an object's name begins with in another way, each of which is a column.
func swapPrefix(name string, from, to int) string {
	for _, kind := range [][2]string{{podPrefix, "Pod/"}, {"persistentvolumeclaim/", "PersistentVolumeClaim/"}} {
		if rest, ok := strings.CutPrefix(name, kind[from]); ok {
			return kind[to] + rest
		}
	}
	return name
}

// k8shell's words for a status that berth has others for.
const (
	wordStarting = "Starting"
	wordWarning  = "Warning"
	wordError    = "Error"
)

// words are berth's words for those.
func words() map[string]string {
	return map[string]string{
		wordStarting: string(v1.StatusProvisioning),
		wordWarning:  string(v1.StatusProvisioning),
		wordError:    string(v1.StatusFailing),
	}
}

// statusWord is k8shell's word for a stage.
func statusWord(stage v1.Stage) string {
	switch stage {
	case v1.StageScheduling, v1.StageInitializing, v1.StageStarting:
		return wordStarting
	case v1.StageFailed:
		return string(v1.StatusFailing)
	}
	return string(stage) // Pulling, Running, Terminating, Stopped, Unknown
}

// percentOf is how far k8shell says that a workspace has come in a stage.
func percentOf(stage v1.Stage) int {
	switch stage {
	case v1.StageScheduling:
		return 20
	case v1.StagePulling:
		return 50
	case v1.StageInitializing:
		return 60
	case v1.StageStarting:
		return 75
	case v1.StageRunning:
		return 100
	}
	return 0
}
