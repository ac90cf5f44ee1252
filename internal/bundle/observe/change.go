package observe

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// change is what has become of an object.
type change int

const (
	nothing change = iota
	// status is a change of what the controllers of the object write, from which its health is read.
	status
	// content is a change of what a bundle may say, or the end of the object.
	content
)

// mark is what is kept in memory of an object: what tells its versions apart.
type mark struct {
	instance   string
	uid        types.UID
	version    string
	generation int64
	metadata   [sha256.Size]byte // labels, annotations and whatever else may be written there
}

func markOf(o metav1.Object) mark {
	text, _ := json.Marshal([]any{ // plain fields: cannot fail
		o.GetLabels(), o.GetAnnotations(), o.GetFinalizers(), o.GetOwnerReferences(), o.GetDeletionTimestamp() != nil,
	})
	return mark{
		instance: o.GetLabels()[v1alpha1.LabelOwnerName], uid: o.GetUID(), version: o.GetResourceVersion(),
		generation: o.GetGeneration(), metadata: sha256.Sum256(text),
	}
}

// changeOf is what has become of an object, and whose it is: nil is one that does not exist, or has lost its labels.
// One that is new is the work of a pass, which looks at it by itself. A kind that counts no generations, such as
// ConfigMap, does not tell its status from all else.
func changeOf(before, now *mark) (c change, instance string) {
	switch {
	case before == nil:
		return nothing, ""
	case now == nil, before.uid != now.uid:
		return content, before.instance
	case before.version == now.version:
		return nothing, before.instance
	case before.generation != now.generation, now.generation == 0, before.metadata != now.metadata:
		return content, before.instance
	}
	return status, before.instance
}

// How soon an instance is looked at after a change, so that what changes together is looked at once; and how often
// that may be, for a long time: an object may be changed again and again, by a controller that does not agree with the
// bundle, or reports something each second.
const (
	afterContent = 200 * time.Millisecond
	afterStatus  = time.Second
	// afterFailure is how long after a pass that has failed its writes may be told.
	afterFailure = time.Second

	atOnce      = 6
	eachContent = 5 * time.Second
	eachStatus  = 20 * time.Second
)

// pace decides when an instance is looked at.
type pace struct {
	content, status *rate.Limiter
	at              time.Time // when it is due; zero if it is not
	timer           *time.Timer

	passing   bool      // a pass is under way
	meanwhile change    // the most that has changed in it
	quiet     time.Time // until when all that comes is of a pass that has failed
}

func newPace() *pace {
	return &pace{
		content: rate.NewLimiter(rate.Every(eachContent), atOnce),
		status:  rate.NewLimiter(rate.Every(eachStatus), atOnce),
	}
}

// next is when the instance is due because of a change, and whether that has moved.
func (p *pace) next(c change, now time.Time) (at time.Time, moved bool) {
	if p.passing {
		p.meanwhile = max(p.meanwhile, c)
		return p.at, false
	}
	if now.Before(p.quiet) {
		return p.at, false
	}
	limit, after := p.status, afterStatus
	if c == content {
		limit, after = p.content, afterContent
	}
	due := !p.at.IsZero()
	if due && !p.at.After(now.Add(after)) {
		return p.at, false
	}
	turn := limit.ReserveN(now, 1)
	at = now.Add(max(after, turn.DelayFrom(now)))
	if due && !at.Before(p.at) {
		turn.CancelAt(now)
		return p.at, false
	}
	p.at = at
	return at, true
}

// begin is the begin of a pass.
func (p *pace) begin() {
	p.stop()
	p.at, p.passing, p.meanwhile = time.Time{}, true, nothing
}

// end is the end of a pass, and what is to be looked at because of it.
func (p *pace) end(failed bool, now time.Time) change {
	p.passing = false
	if failed {
		p.quiet = now.Add(afterFailure)
		return nothing
	}
	return p.meanwhile
}

// stop forgets when it is due.
func (p *pace) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
