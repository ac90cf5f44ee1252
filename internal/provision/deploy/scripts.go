package deploy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/initscript"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// ReasonScript is the reason of the error about an init script that has failed, where that
// is a failure.
const ReasonScript = "INIT_SCRIPT_FAILED"

// scriptsTime is how long the last words of the scripts are waited for once the workspace
// runs. Their logs are open, and hardly behind.
const scriptsTime = 3 * time.Second

// Scripts follows the init scripts of a workspace that starts, beside everything else, and
// reports on them. A workspace without any costs no request.
type Scripts struct {
	steps  *Steps
	client *kube.Client
	asked  bool // --strict-scripts

	group sync.WaitGroup
	// Of the caller alone: the instances and pods that are followed, the instances that there
	// are, and whether there are pods that are not followed.
	following map[string]bool
	pods      map[string]bool
	newest    []string
	left      bool

	mu     sync.Mutex
	strict bool               // asked for, or the blueprint of a pod says so
	stop   context.CancelFunc // ends what else is followed
	known  []v1.Script        // by pod and number
	whole  map[string]bool    // instances whose scripts were seen to their end
	unread error              // why some are not
}

// NewScripts follows nothing yet. Strict makes a script that fails a failure, whatever the
// blueprint says.
func NewScripts(steps *Steps, client *kube.Client, strict bool) *Scripts {
	return &Scripts{
		steps: steps, client: client, asked: strict, strict: strict, following: map[string]bool{},
		pods: map[string]bool{}, whole: map[string]bool{},
	}
}

// Begin says how to end what else is followed when a script has failed and that is a failure.
func (s *Scripts) Begin(stop context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
}

// Look begins to follow the scripts of the pods that run, of that job if it is known: the pods
// of another are about to go.
func (s *Scripts) Look(ctx context.Context, state watch.State, job string) {
	s.newest = nil
	for _, pod := range state.Pods() {
		instance, ok := initscript.Running(pod)
		if !ok || job != "" && pod.Labels[kube.LabelJobID] != job {
			continue
		}
		if initscript.Strict(pod) {
			s.beStrict()
		}
		if !s.pods[instance.PodUID] && len(s.pods) >= initscript.MostPods {
			s.left = true
			continue
		}
		s.pods[instance.PodUID], s.newest = true, append(s.newest, instance.ID)
		if s.following[instance.ID] {
			continue
		}
		s.following[instance.ID] = true
		s.group.Go(func() {
			whole, err := initscript.Follow(ctx, s.client, pod, instance.Container, s.report)
			if err != nil && ctx.Err() == nil {
				s.cannotRead(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.whole[instance.ID] = whole
		})
	}
}

func (s *Scripts) beStrict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strict = true
}

// report notes what has become of a script, and passes it on.
func (s *Scripts) report(script v1.Script) {
	s.steps.Script(script)
	s.mu.Lock()
	defer s.mu.Unlock()
	if script.State == v1.ScriptRunning {
		script.Lines = nil
	}
	same := func(o v1.Script) bool { return o.Object == script.Object && o.Number == script.Number }
	if i := slices.IndexFunc(s.known, same); i >= 0 {
		s.known[i] = script
	} else {
		s.known = append(s.known, script)
	}
	if script.State == v1.ScriptFailed && s.strict && s.stop != nil {
		s.stop()
	}
}

// cannotRead says once that the scripts cannot be seen; the rest of the picture stands.
func (s *Scripts) cannotRead(err error) {
	s.mu.Lock()
	first := s.unread == nil
	s.unread = cmp.Or(s.unread, err)
	s.mu.Unlock()
	if first {
		s.steps.Warn("InitScriptsNotSeen", "", "cannot read the init scripts' output: "+err.Error())
	}
}

// End waits until the scripts of a workspace that runs have come to their end, which they
// have, and it only has to be read. Otherwise, or when that takes too long, they are left.
func (s *Scripts) End(stop context.CancelFunc, runs bool) {
	ended := make(chan struct{})
	go func() {
		s.group.Wait()
		close(ended)
	}()
	if runs {
		select {
		case <-ended:
		case <-time.After(scriptsTime):
			s.cannotRead(errors.New("the log could not be read in time"))
		}
	}
	stop()
	<-ended
	if !runs {
		return
	}
	if slices.ContainsFunc(s.newest, func(instance string) bool { return !s.whole[instance] }) {
		s.cannotRead(errors.New("their log does not have all of them"))
	}
	if s.left && s.Strict(nil) {
		s.cannotRead(initscript.ErrTooManyPods)
	}
}

// Seen takes what was read of the scripts of a workspace that runs already.
func (s *Scripts) Seen(w v1.Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = w.Scripts
	if w.ScriptsUnread != "" {
		s.unread = errors.New(w.ScriptsUnread)
	}
}

// Strict says whether a script that fails in one of these pods is a failure.
func (s *Scripts) Strict(pods []*corev1.Pod) bool {
	if slices.ContainsFunc(pods, initscript.Strict) {
		s.beStrict()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strict
}

// Failed is the script that has failed where that is a failure; nil if none has.
func (s *Scripts) Failed() *v1.Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.known, func(o v1.Script) bool { return o.State == v1.ScriptFailed })
	if !s.strict || i < 0 {
		return nil
	}
	return new(s.known[i])
}

// Failure is the error about scripts that have failed, or of which that is not known, where that is a
// failure.
func (s *Scripts) Failure(id, namespace string) error {
	failed := s.Failed()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case failed != nil:
		in := ""
		if failed.Pod() != id {
			in = " in pod " + failed.Pod()
		}
		return fault.New(fault.Failed, "init script %s failed%s with exit code %d", failed.Name, in, *failed.ExitCode).
			WithReason(ReasonScript).
			WithHint("see all of its output: `%s`; it runs again when the container is started again",
				kube.Command("logs", id, namespace))
	case s.strict && s.unread != nil:
		return fault.New(fault.Failed, "the workspace runs, but the output of its init scripts cannot be read: %w",
			s.unread).
			WithHint("%s", s.leniency()).WithReason(ReasonScript)
	}
	return nil
}

// leniency is how what cannot be seen would be no failure.
func (s *Scripts) leniency() string {
	if s.asked {
		return "without --strict-scripts that is no failure"
	}
	return "its blueprint says strictScripts: without that it is no failure"
}

// running is the script that runs; nil if none does.
func (s *Scripts) running() *v1.Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.known, func(o v1.Script) bool { return o.State == v1.ScriptRunning })
	if i < 0 {
		return nil
	}
	return new(s.known[i])
}

// Explain is the reading of a workspace that is given up while it starts, which says what it waits
// for: the script that runs. That the probe gets no answer before that has ended says less.
func (s *Scripts) Explain(reading v1.Snapshot) v1.Snapshot {
	running := s.running()
	if running == nil || reading.Stage != v1.StageStarting || reading.Cause != nil &&
		reading.Cause.Code != cause.ProbeFailed {
		return reading
	}
	reading.Message, reading.Cause = "init script "+running.Name+" is running", nil
	return reading
}

// Advise adds to the error of a workspace that took too long where the script that still runs
// can be watched, unless there is something better to do.
func (s *Scripts) Advise(err error, id, namespace string) error {
	if fault.CodeOf(err) != fault.DeadlineExceeded || fault.From(err).Hint != "" || s.running() == nil {
		return err
	}
	advised := *fault.From(err)
	return advised.WithHint("see what it does: %s", kube.Command("logs", id, namespace))
}

// Describe puts into the document of a workspace what is known of its scripts.
func (s *Scripts) Describe(w *v1.Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Scripts = slices.SortedStableFunc(slices.Values(s.known), func(a, b v1.Script) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Number, b.Number))
	})
	if s.unread != nil {
		w.ScriptsUnread = s.unread.Error()
	}
}

// Tail is the output of the script that has failed where that is a failure; nil if none has.
func (s *Scripts) Tail() *v1.LogTail {
	failed := s.Failed()
	if failed == nil {
		return nil
	}
	return &v1.LogTail{Container: failed.Container(), Script: failed.Name, Lines: failed.Lines}
}
