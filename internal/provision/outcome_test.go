package provision

import (
	"context"
	"errors"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// created is the end of a run that has created a pod.
func created(reading v1.Snapshot) progress {
	return progress{
		result: deploy.Result{Changes: deploy.Changes{Objects: apply.Changes{{
			Action: apply.Created,
			Object: kube.Named("Pod", id),
		}}}},
		reading: reading,
	}
}

// A workspace that is followed is provisioned by nobody: where its pod leaves, that is all there is to say.
func TestLeaves(t *testing.T) {
	failed := fault.New(fault.Failed, "it failed")
	for name, c := range map[string]struct {
		reading v1.Snapshot
		err     error
		want    string
	}{
		"is being deleted": {v1.Snapshot{Stage: v1.StageTerminating}, failed, "the pod is being deleted"},
		"was deleted":      {v1.Snapshot{Gone: true}, failed, "the pod was deleted"},
		"failed":           {v1.Snapshot{Stage: v1.StageFailed}, failed, "it failed"},
		"failed, and is being deleted": {
			v1.Snapshot{Stage: v1.StageTerminating, Cause: &v1.Cause{}}, failed, "it failed",
		},
		"another error": {v1.Snapshot{Gone: true}, fault.New(fault.Interrupted, "interrupted"), "interrupted"},
	} {
		if got := fault.From(leaves(c.reading, c.err)).Message; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if err := leaves(v1.Snapshot{Gone: true}, nil); err != nil {
		t.Error(err)
	}
}

// What the message of a timeout says, depending on what exists at that time.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	defer cancel()
	<-ctx.Done()
	begun := progress{result: deploy.Result{Changes: deploy.Changes{Begun: true}}}
	notFound := &v1.Cause{Code: cause.ImageNotFound, Message: "image x not found"}
	for name, test := range map[string]struct {
		end  progress
		says string
	}{
		"before anything is written": {progress{}, "nothing is installed yet"},
		"with the record alone":      {begun, "not all of it is created yet"},
		"a stage":                    {created(v1.Snapshot{Stage: v1.StageStarting}), "still Starting"},
		"a message": {
			created(v1.Snapshot{Stage: v1.StagePulling, Message: "image x"}),
			"still Pulling: image x",
		},
		"a cause": {
			created(v1.Snapshot{Stage: v1.StageStarting, Cause: notFound}),
			"still Starting: image x not found",
		},
		"what was ignored": {
			created(v1.Snapshot{Stage: v1.StageStarting, Cause: notFound, Ignored: []string{cause.ImageNotFound}}),
			"still Starting: image x not found; ignored on request: ImageNotFound",
		},
	} {
		err := interrupted(ctx, nil, test.end, ctx.Err())
		if fault.CodeOf(err) != fault.DeadlineExceeded || err.Error() != "timed out after 1s: "+test.says ||
			fault.From(err).Detail != test.says {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := interrupted(ctx, nil, progress{}, nil); err != nil {
		t.Errorf("what ended well is interrupted: %v", err)
	}
	failed := fault.New(fault.Failed, "no")
	if err := interrupted(t.Context(), nil, progress{}, failed); !errors.Is(err, failed) {
		t.Errorf("without an interruption it is %v", err)
	}
}

// An update reports the revision that it made, or the previous one as long as it has made none.
func TestRevisionOfAnUpdate(t *testing.T) {
	s, _, dec := runOn(t)
	if w := s.workspace(dec, progress{}); w.Update != nil {
		t.Errorf("a provisioning says %+v of an update", w.Update)
	}
	s.update = &v1.Update{Revision: 2}
	for want, end := range map[int]progress{2: {}, 3: {result: deploy.Result{Record: &helm.Release{Version: 3}}}} {
		if w := s.workspace(dec, end); w.Update == nil || w.Update.Revision != want {
			t.Errorf("%+v, want revision %d", w.Update, want)
		}
	}
	if s.update.Revision != 2 {
		t.Error("what is known of the update was changed")
	}
}

// What a failed run reports about the objects that it leaves behind.
func TestLeft(t *testing.T) {
	failed, refused := fault.New(fault.Failed, "no"), fault.New(fault.PermissionDenied, "no")
	for name, test := range map[string]struct {
		end  progress
		err  error
		want v1.Left
	}{
		"all well":                    {created(v1.Snapshot{}), nil, ""},
		"refused before":              {progress{}, refused, ""},
		"failed, nothing created":     {progress{}, failed, ""},
		"failed":                      {created(v1.Snapshot{}), failed, v1.LeftKept},
		"failed, the record is there": {progress{found: inventory.Found{Record: &helm.Release{}}}, failed, v1.LeftKept},
		"failed, another's pod":       {progress{pod: &corev1.Pod{}}, failed, v1.LeftKept},
		"removed by another":          {progress{pod: &corev1.Pod{}, left: v1.LeftDeleted}, failed, v1.LeftDeleted},
		"Ctrl-C":                      {created(v1.Snapshot{}), fault.New(fault.Interrupted, "stop"), v1.LeftKept},
	} {
		if got := leftBy(test.end, test.err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// What a failed run deletes if it is asked to.
func TestCleansUp(t *testing.T) {
	failed := fault.New(fault.Failed, "no")
	for name, test := range map[string]struct {
		rule OnFailure
		end  progress
		err  error
		want bool
	}{
		"failed": {DeleteOnFailure, created(v1.Snapshot{}), failed, true},
		"timed out": {
			DeleteOnFailure, created(v1.Snapshot{}), fault.New(fault.DeadlineExceeded, "late"),
			true,
		},
		"interrupted":        {DeleteOnFailure, created(v1.Snapshot{}), fault.New(fault.Interrupted, "stop"), false},
		"nothing created":    {DeleteOnFailure, progress{}, failed, false},
		"to be kept":         {KeepOnFailure, created(v1.Snapshot{}), failed, false},
		"nothing asked for":  {"", created(v1.Snapshot{}), failed, false},
		"it ended well":      {DeleteOnFailure, created(v1.Snapshot{}), nil, false},
		"the lock was taken": {DeleteOnFailure, created(v1.Snapshot{}), lock.ErrTaken, false},
	} {
		if got := (&Provisioner{Options: Options{OnFailure: test.rule}}).cleansUp(test.end,
			test.err); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A run that waited for another run fails as that run failed.
func TestSharedEnd(t *testing.T) {
	failed := v1.Snapshot{Stage: v1.StageFailed, Message: "seen"}
	pod := func(stage v1.Stage) inventory.Found {
		return inventory.Found{
			Pod: &corev1.Pod{}, Record: &helm.Release{},
			Reading: v1.Snapshot{Stage: stage, Message: "found"},
		}
	}
	for name, test := range map[string]struct {
		plan   deploy.Plan
		found  inventory.Found
		failed *v1.Snapshot
		says   string // empty if the run continues
		left   v1.Left
	}{
		"it failed":                {deploy.Replace, pod(v1.StageFailed), &failed, "found", ""},
		"it failed, unseen":        {deploy.Replace, pod(v1.StageFailed), nil, "found", ""},
		"it stopped":               {deploy.Replace, pod(v1.StageStopped), nil, "", ""},
		"it failed and is removed": {deploy.Create, inventory.Found{}, &failed, "seen", v1.LeftDeleted},
		"it failed, its pod still terminating": {
			deploy.Await,
			inventory.Found{Pod: &corev1.Pod{}},
			&failed, "seen",
			v1.LeftDeleted,
		},
		"it failed before and is being replaced": {deploy.Await, pod(v1.StageTerminating), &failed, "", ""},
		"it was removed":                         {deploy.Create, inventory.Found{}, nil, "", ""},
		"it failed once and is starting":         {deploy.Resume, pod(v1.StageStarting), &failed, "", ""},
		"it runs":                                {deploy.Refuse, pod(v1.StageRunning), nil, "", ""},
	} {
		reading, left, over := sameOutcome(deploy.Turn{Plan: test.plan, Found: test.found}, test.failed)
		if over != (test.says != "") || reading.Message != test.says || left != test.left {
			t.Errorf("%s: %t, %+v, %q", name, over, reading, left)
		}
	}
}

// With --no-wait, a run reports the job of the run that holds the workspace's lock. Its own job gets no
// record then. A run can also continue the record of an earlier job.
func TestJobs(t *testing.T) {
	for _, test := range []struct {
		name           string
		plan           deploy.Plan
		pod            string // the job of the pod that is there; empty for no pod
		locked         string
		atWork, become string
	}{
		{"nothing is there yet", deploy.Create, "", "theirs", "theirs", "mine"},
		{"a lock without a job", deploy.Create, "", "", "", "mine"},
		{"a pod that is starting", deploy.Resume, "older", "theirs", "older", "older"},
		{"a pod without a job", deploy.Resume, "", "theirs", "", "mine"},
		{"a pod that they replace", deploy.Replace, "older", "theirs", "theirs", "mine"},
		{"a pod that is terminating", deploy.Await, "older", "theirs", "theirs", "mine"},
		{"a pod that runs now", deploy.Refuse, "older", "theirs", "older", "older"},
	} {
		f := inventory.Found{Pod: &corev1.Pod{}}
		f.Pod.Labels = map[string]string{kube.LabelJobID: test.pod}
		if got := holderJob(f, test.plan, &lock.Observed{Job: test.locked}); got != test.atWork {
			t.Errorf("%s: the reported job is %q, want %q", test.name, got, test.atWork)
		}
		if got := jobOf(deploy.Turn{Found: f, Plan: test.plan}, "mine"); got != test.become {
			t.Errorf("%s: its own job becomes %q, want %q", test.name, got, test.become)
		}
	}
}

// A failure or a timeout ends with the last log lines of the container that caused it.
func TestLogsOfTheOutcome(t *testing.T) {
	end := created(v1.Snapshot{Stage: v1.StageFailed, Cause: &v1.Cause{
		Code:      cause.CrashLoop,
		Container: "k8shell-main",
	}})
	for code, want := range map[fault.Code]bool{
		fault.Failed: true, fault.DeadlineExceeded: true, fault.Interrupted: false, fault.Unavailable: false,
	} {
		s, _, dec := runOn(t)
		s.scripts = deploy.NewScripts(s.steps, s.Client, false)
		if o := s.outcome(t.Context(), dec, end, fault.New(code, "no")); (o.Logs != nil) != want {
			t.Errorf("%s: %+v", code, o.Logs)
		}
	}
}

func TestFailedPod(t *testing.T) {
	for name, test := range map[string]struct {
		cause *v1.Cause
		want  string
	}{
		"without a cause":        {nil, id},
		"of a claim":             {&v1.Cause{Object: "persistentvolumeclaim/home"}, id},
		"of a workload's":        {&v1.Cause{Object: "pod/web-1"}, "web-1"},
		"of a pod that is alone": {&v1.Cause{Object: "pod/" + id}, id},
	} {
		if got := failedPod(id, v1.Snapshot{Cause: test.cause}); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// injectNamespaces restricts the namespaces for injection; without it, the permissions of the cluster
// decide.
func TestWhereInjectionIsAllowed(t *testing.T) {
	u, err := userstring.Parse("alice~dev+workload=deployment/web+ns=shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		namespaces []string
		code       fault.Code
	}{
		{nil, ""},
		{[]string{}, fault.PermissionDenied},
		{[]string{"other"}, fault.PermissionDenied},
		{[]string{"other", "shop"}, ""},
		{[]string{"*"}, ""},
	} {
		if err := (Environment{InjectNamespaces: test.namespaces}).mayInject(u); fault.CodeOf(err) != test.code {
			t.Errorf("%v: %v, want %q", test.namespaces, err, test.code)
		}
	}
	refused := Provisioner{Environment: Environment{InjectNamespaces: []string{}}} // asks no cluster
	if _, err := refused.Provision(t.Context(), u,
		event.NewStream("alice", time.Now)); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("it is provisioned: %v", err)
	}
	if err := (Environment{InjectNamespaces: []string{}}).mayInject(userstring.UserString{User: "alice"}); err != nil {
		t.Errorf("a workspace of its own: %v", err)
	}
}
