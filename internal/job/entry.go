package job

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// resultName is the object of the entry that says how a job ended.
const resultName = "result"

// StatusOK is the status of the result of a job that succeeded; of another one
// it is the code of the error.
const StatusOK = "OK"

// maxMessage is the length of a message, in bytes: Kubernetes' own limit.
const maxMessage = 1024

// entryOf is what the record keeps of an event, and how it is counted; false
// if it leaves the event out.
func entryOf(e v1.Event) (entry Entry, repeat repeat, ok bool) {
	entry, repeat = Entry{Timestamp: e.At}, oneMore
	switch {
	case e.Stage != nil:
		entry.Type, entry.ObjectName = TypeStatus, "pod/"+e.Workspace
		entry.Status, entry.Message = string(e.Stage.Status), stageText(*e.Stage)
	case e.Object != nil:
		repeat = byCount(e.Object.Count)
		entry.Type, entry.ObjectName = TypeEvent, e.Object.Object
		entry.Status, entry.Message = e.Object.Type, reasonText(e.Object.Reason, e.Object.Message)
	case e.Warning != nil:
		// Most warnings are an event of Kubernetes as well.
		repeat = atLeast(e.Warning.Count)
		entry.Type, entry.ObjectName = TypeEvent, e.Warning.Object
		entry.Status, entry.Message = "Warning", reasonText(e.Warning.Reason, e.Warning.Message)
	case e.Step != nil && e.Step.State != v1.StepBegun:
		entry.Type, entry.ObjectName = TypeProgress, e.Step.Name
		entry.Status, entry.Message = string(e.Step.State), e.Step.Message
	case e.Progress != nil:
		entry.Type, entry.Message = TypeProgress, e.Progress.Message
	default:
		return Entry{}, nil, false
	}
	entry.Message = short(entry.Message)
	return entry, repeat, true
}

// stageText is a stage and what it is about; the stage comes first, so that it
// can be read again.
func stageText(s v1.Snapshot) string {
	about := s.Message
	if s.Cause != nil {
		about = s.Cause.Message
	}
	return reasonText(string(s.Stage), about)
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
