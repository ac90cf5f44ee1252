package deploy

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/initscript"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// A workspace that is given up while an init script runs waits for that, and not for its probe;
// its log is where to look, unless something else is wrong.
func TestScriptsExplain(t *testing.T) {
	forever, done := v1.Script{Name: "forever", Number: 2, State: v1.ScriptRunning},
		v1.Script{Name: "first", Number: 1, State: v1.ScriptDone}
	unready := v1.Snapshot{Stage: v1.StageStarting, Message: "k8shell-main is not ready"}
	probed, crashes := unready, unready
	probed.Cause, crashes.Cause = &v1.Cause{Code: cause.ProbeFailed}, &v1.Cause{Code: cause.CrashLoop}
	for name, c := range map[string]struct {
		known   []v1.Script
		reading v1.Snapshot
		message string
		causes  bool
	}{
		"a script runs": {
			known: []v1.Script{done, forever}, reading: unready,
			message: "init script forever is running",
		},
		"a script runs, and the probe fails": {
			known: []v1.Script{forever}, reading: probed,
			message: "init script forever is running",
		},
		"something else is wrong": {
			known: []v1.Script{forever}, reading: crashes, message: unready.Message,
			causes: true,
		},
		"none runs": {
			known: []v1.Script{done}, reading: probed, message: unready.Message,
			causes: true,
		},
		"it has not come so far": {
			known:   []v1.Script{forever},
			reading: v1.Snapshot{Stage: v1.StagePulling, Message: "web"}, message: "web",
		},
	} {
		s := &Scripts{known: c.known}
		if got := s.Explain(c.reading); got.Message != c.message || (got.Cause != nil) != c.causes {
			t.Errorf("%s: %q, %+v", name, got.Message, got.Cause)
		}
	}
}

// Only a script that fails, where that is a failure, ends what else is followed.
func TestScriptsStop(t *testing.T) {
	for name, c := range map[string]struct {
		state  v1.ScriptState
		strict bool
		stops  bool
	}{
		"it fails, strictly":  {v1.ScriptFailed, true, true},
		"it fails":            {v1.ScriptFailed, false, false},
		"it runs, strictly":   {v1.ScriptRunning, true, false},
		"it ended, strictly":  {v1.ScriptDone, true, false},
		"it runs, no matter":  {v1.ScriptRunning, false, false},
		"it ended, no matter": {v1.ScriptDone, false, false},
	} {
		stopped := false
		s := NewScripts(NewSteps(event.NewStream("alice", time.Now), time.Now), nil, c.strict)
		s.Begin(func() { stopped = true })
		s.report(v1.Script{Name: "first", Number: 1, State: c.state})
		if stopped != c.stops {
			t.Errorf("%s: stopped is %t", name, stopped)
		}
	}
}

// runningPod is a pod whose init scripts run.
func runningPod(uid types.UID) *corev1.Pod {
	main := kube.MainContainer(nil)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "alice-1", Namespace: "team", UID: uid},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: main, Command: []string{"/k8shell/runtime/start.sh"},
			VolumeMounts: []corev1.VolumeMount{{Name: "init", MountPath: "/k8shell/init"}},
		}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: main, ContainerID: "containerd://" + string(uid),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
}

// handler is told each event.
type handler func(v1.Event)

// Handle passes an event on.
func (f handler) Handle(e v1.Event) { f(e) }

// The log of a pod that was replaced need not be complete.
func TestScriptsOfTheNewestPod(t *testing.T) {
	var warned []string
	stream := event.NewStream("alice", time.Now, handler(func(e v1.Event) {
		if e.Warning != nil {
			warned = append(warned, e.Warning.Message)
		}
	}))
	s := NewScripts(NewSteps(stream, time.Now), nil, false)
	for _, uid := range []types.UID{"old", "new"} {
		pod := runningPod(uid)
		instance, ok := initscript.Running(pod)
		if !ok {
			t.Fatal("its scripts do not run")
		}
		s.following[instance.ID], s.whole[instance.ID] = true, uid == "new" // as if its log had been read
		s.Look(t.Context(), watch.NewState(watch.Subject{Name: pod.Name}).Apply(apiwatch.Added, pod), "")
	}
	s.End(func() {}, true)
	stream.Finish(v1.Result{})
	if len(warned) > 0 {
		t.Errorf("it warns of %q", warned)
	}
}

// Output that cannot be read is a failure of what is strict, which says what makes it so.
func TestScriptsUnread(t *testing.T) {
	for hint, s := range map[string]*Scripts{
		"without --strict-scripts that is no failure": {
			asked: true, strict: true,
			unread: errors.New("forbidden"),
		},
		"its blueprint says strictScripts: without that it is no failure": {
			strict: true,
			unread: errors.New("forbidden"),
		},
		"": {unread: errors.New("forbidden")},
	} {
		err := s.Failure("alice-1", "team")
		if (err != nil) != (hint != "") || err != nil && fault.From(err).Hint != hint {
			t.Errorf("%v, want the hint %q", err, hint)
		}
	}
}

func TestScriptsAdvise(t *testing.T) {
	late := fault.New(fault.DeadlineExceeded, "timed out")
	for name, c := range map[string]struct {
		state v1.ScriptState
		err   *fault.Error
		want  string
	}{
		"a script runs": {v1.ScriptRunning, late, "see what it does: berth logs id/alice-1 --namespace team"},
		"none runs":     {v1.ScriptDone, late, ""},
		"better advice": {
			v1.ScriptRunning, fault.New(fault.DeadlineExceeded, "timed out").WithHint("do that"),
			"do that",
		},
		"another failure": {v1.ScriptRunning, fault.New(fault.Failed, "no"), ""},
	} {
		s := &Scripts{known: []v1.Script{{Name: "forever", State: c.state}}}
		if got := fault.From(s.Advise(c.err, "alice-1", "team")).Hint; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if late.Hint != "" {
		t.Error("the error of the caller was changed")
	}
	if err := (&Scripts{}).Advise(nil, "alice-1", "team"); err != nil {
		t.Errorf("%v", err)
	}
}
