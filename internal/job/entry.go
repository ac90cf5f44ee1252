package job

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// resultName is the object of the entry that says how a job ended.
const resultName = "result"

// scriptPrefix begins the object of an entry about an init script.
const scriptPrefix = "initscript/"

// StatusOK is the status of the result of a job that succeeded; of another one
// it is the code of the error.
const StatusOK = "OK"

// maxMessage is the length of a message, in bytes: Kubernetes' own limit.
const maxMessage = 1024

// entryOf is what the record keeps of an event, and how it is counted; false
// if it leaves the event out.
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
		entry.Status, entry.Message = string(e.Stage.Status), reasonText(string(e.Stage.Stage), about) // stageOf reads it
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

// scriptText is what has become of a script, without its output: more people may read records
// than logs.
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
