package job

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// resultName is the object of the entry that says how a job ended.
const resultName = "result"

// scriptPrefix begins the object of an entry about an init script.
const scriptPrefix = "initscript/"

// StatusOK is the status of the result of a job that succeeded; of another one it is the code of the error.
const StatusOK = "OK"

// maxMessage is the length of a message, in bytes: Kubernetes' own limit.
const maxMessage = 1024

// entryOf is what the record keeps of an event, and how it is counted; false if it leaves the event out.
func entryOf(e v1.Event) (entry v1.JobEvent, repeat repeat, ok bool) {
	entry, repeat = v1.JobEvent{Timestamp: e.At}, oneMore
	switch {
	case e.Stage != nil:
		about := e.Stage.Message
		if e.Stage.Cause != nil {
			about = e.Stage.Cause.Message
			if e.Stage.Cause.Stuck {
				about += " (this will not resolve by itself)"
			}
		}
		entry.Type, entry.ObjectName = v1.JobEventStatus, "pod/"+e.Workspace
		entry.Status = string(e.Stage.Status)
		entry.Message = reasonText(string(e.Stage.Stage), about) // stageOf reads it
		if e.Stage.Stage == v1.StagePulling {
			entry.BeganAt = e.Stage.Since
		}
	case e.Object != nil:
		repeat = byCount(e.Object.Count)
		entry.Type, entry.ObjectName = v1.JobEventKubernetes, e.Object.Object
		entry.Status, entry.Message = e.Object.Type, reasonText(e.Object.Reason, e.Object.Message)
	case e.Warning != nil:
		// Most warnings are an event of Kubernetes as well.
		repeat = atLeast(e.Warning.Count)
		entry.Type, entry.ObjectName = v1.JobEventKubernetes, e.Warning.Object
		entry.Status, entry.Message = "Warning", reasonText(e.Warning.Reason, e.Warning.Message)
	case e.Step != nil && e.Step.State != v1.StepBegun:
		entry.Type, entry.ObjectName = v1.JobEventProgress, e.Step.Name
		entry.Status, entry.Message = string(e.Step.State), e.Step.Message
		entry.BeganAt, entry.Seconds = e.At.Add(-seconds(e.Step.Seconds)), e.Step.Seconds
	case e.Script != nil && e.Script.State != v1.ScriptRunning:
		entry.Type, entry.ObjectName = v1.JobEventProgress, scriptPrefix+e.Script.Name
		entry.Status, entry.Message = string(e.Script.State), scriptText(*e.Script)
		entry.BeganAt, entry.Seconds = e.Script.At, e.Script.Seconds
	case e.Progress != nil:
		entry.Type, entry.Message = v1.JobEventProgress, e.Progress.Message
	default:
		return v1.JobEvent{}, nil, false
	}
	entry.Message = short(entry.Message)
	return entry, repeat, true
}

// seconds is a duration that a record says, which may be of another program.
func seconds(s float64) time.Duration {
	const most = 365 * 24 * time.Hour
	return time.Duration(min(max(s, 0), most.Seconds()) * float64(time.Second))
}

// scriptText is what has become of a script, without its output: more people may read records than logs.
func scriptText(s v1.Script) string {
	if s.ExitCode != nil {
		return fmt.Sprintf("init script failed with exit code %d", *s.ExitCode)
	}
	return "init script"
}

func reasonText(reason, message string) string {
	if message == "" {
		return reason
	}
	return fmt.Sprintf("%s: %s", reason, message)
}

// short makes a message valid UTF-8 and cuts it to maxMessage.
func short(message string) string {
	message = strings.ToValidUTF8(message, "\uFFFD")
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-len("…")], "") + "…"
}

// add is the record with one entry more. A stage is never left out; an event of
// Kubernetes or a message that is like one before is counted: there, so that a
// workspace which waits for a day does not fill its record, or in an entry of its own.
func (r Record) add(e v1.JobEvent, repeat repeat) Record {
	if isStatus(e) {
		if before, ok := last(r.Events, isStatus); ok && before.Message == e.Message && before.Status == e.Status {
			return r // only its containers are new
		}
		return r.append(e)
	}
	if isResult(e) {
		return r.append(e)
	}
	i := lastIndex(r.Events, isLike(e))
	if i < 0 || r.apart {
		before := 0
		if i >= 0 {
			_, before = splitCount(r.Events[i].Message)
		}
		count := repeat(before)
		if count == before {
			return r // it has been counted already
		}
		if count > 1 {
			e.Message = countText(e.Message, count, 0)
		}
		return r.append(e)
	}
	r.Events = slices.Clone(r.Events)
	r.Events[i] = merged(r.Events[i], e, repeat)
	return r
}

// addAll adds the entries of another record, which have been counted.
func (r Record) addAll(entries []v1.JobEvent) Record {
	for _, e := range entries {
		bare, count := splitCount(e.Message)
		e.Message = bare
		r = r.add(e, atLeast(count))
	}
	return r
}

// folded is the record with what is alike in one entry.
func (r Record) folded() Record {
	entries := r.Events
	r.Events, r.apart = nil, false
	return r.addAll(entries)
}

// append never shares the entries with the record that it was made of.
func (r Record) append(e v1.JobEvent) Record {
	e.ID = r.nextID()
	r.Events = append(slices.Clip(r.Events), e)
	return r
}

// last is the last entry of a kind.
func last(all []v1.JobEvent, is func(v1.JobEvent) bool) (e v1.JobEvent, ok bool) {
	if i := lastIndex(all, is); i >= 0 {
		return all[i], true
	}
	return v1.JobEvent{}, false
}

// seen is the record with what a reading of the stage says of the workspace as a whole. A
// cause that may pass in a moment does not count.
func (r Record) seen(e v1.Event) Record {
	if e.Stage == nil {
		return r
	}
	image := v1.Workspace{ID: e.Workspace, Snapshot: *e.Stage}.MainImage()
	r.Node, r.Image, r.Cause = cmp.Or(e.Stage.Node, r.Node), cmp.Or(image, r.Image), ""
	if c := e.Stage.Cause; c != nil && !c.Tentative {
		r.Cause = c.Code
	}
	return r
}

func lastIndex(all []v1.JobEvent, is func(v1.JobEvent) bool) int {
	for i, e := range slices.Backward(all) {
		if is(e) {
			return i
		}
	}
	return -1
}

func isStatus(e v1.JobEvent) bool { return e.Type == v1.JobEventStatus }

func isResult(e v1.JobEvent) bool { return e.ObjectName == resultName }

// repeat says how often something has happened so far, when it had happened so often before.
type repeat func(before int) int

func oneMore(before int) int { return before + 1 }

// byCount takes Kubernetes' own count, unless it is another event's: that is
// reported again only when its count has grown.
func byCount(count int) repeat {
	return func(before int) int {
		if count > before {
			return count
		}
		return before + 1
	}
}

// atLeast is for what may have been counted already.
func atLeast(count int) repeat { return func(before int) int { return max(before, count) } }

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// withoutNumbers is a message without its count and its numbers.
func withoutNumbers(message string) string {
	message, _ = splitCount(message)
	return number.ReplaceAllString(message, "#")
}

// isLike is true for an entry that differs from e in numbers only.
func isLike(e v1.JobEvent) func(v1.JobEvent) bool {
	message := withoutNumbers(e.Message)
	return func(other v1.JobEvent) bool {
		return e.Type == other.Type && e.ObjectName == other.ObjectName && e.Status == other.Status &&
			message == withoutNumbers(other.Message)
	}
}

// merged is an entry that happened again: at its first time, with the newest
// message, the count, and how long it has been going on.
func merged(first, again v1.JobEvent, repeat repeat) v1.JobEvent {
	_, before := splitCount(first.Message)
	count := repeat(before)
	if count == before {
		return first
	}
	first.Message = countText(again.Message, count, again.Timestamp.Sub(first.Timestamp))
	return first
}

func countText(message string, count int, over time.Duration) string {
	if over = over.Round(time.Second); over <= 0 {
		return fmt.Sprintf("%s (x%d)", message, count)
	}
	return fmt.Sprintf("%s (x%d over %s)", message, count, over)
}

var counted = regexp.MustCompile(` \(x([0-9]+)(?: over [0-9hms]+)?\)$`)

// splitCount removes what countText has added to a message.
func splitCount(message string) (bare string, count int) {
	match := counted.FindStringSubmatch(message)
	if match == nil {
		return message, 1
	}
	count, err := strconv.Atoi(match[1])
	if err != nil {
		return message, 1
	}
	return strings.TrimSuffix(message, match[0]), count
}
