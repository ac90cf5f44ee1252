package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A deployment of one replica is followed by its newest revision.
func TestAnalyzeDeployment(t *testing.T) {
	crashing := watchtest.App(watchtest.Exits(1, "Error", 0), watchtest.ExitedBefore(1, "Error", 9))
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		pods       []watchtest.MadePod
		stage      v1.Stage
		cause      string
	}{
		"up": {
			deployment: watchtest.Deployment(2, 2, watchtest.Available),
			pods:       []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode, watchtest.AppReady)},
			stage:      v1.StageRunning,
		},
		"a pod of an older revision crashes": {
			deployment: watchtest.Deployment(2, 2),
			pods: []watchtest.MadePod{
				watchtest.Owned("a", watchtest.OnNode, crashing),
				watchtest.Owned("b", watchtest.OnNode),
			},
			stage: v1.StageStarting,
		},
		"a terminating pod crashes": {
			deployment: watchtest.Deployment(2, 2),
			pods:       []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode, crashing, watchtest.Deleting)},
			stage:      v1.StageScheduling,
		},
		"an evicted pod has a successor": {
			deployment: watchtest.Deployment(2, 2), stage: v1.StageStarting,
			pods: []watchtest.MadePod{
				watchtest.Owned("b", watchtest.OnNode,
					func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }),
				watchtest.Owned("b",
					watchtest.OnNode),
			},
		},
		"the newest revision crashes": {
			deployment: watchtest.Deployment(2, 2), pods: []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode,
				crashing)},
			stage: v1.StageFailed, cause: "CrashLoop",
		},
		"the status is of an older generation": {
			deployment: watchtest.Deployment(3, 2, watchtest.Available, late),
			pods:       []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode, watchtest.AppReady)},
			stage:      v1.StageScheduling,
		},
		"it is late": {
			deployment: watchtest.Deployment(2, 2, late),
			pods:       []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode)},
			stage:      v1.StageStarting, cause: "ProgressDeadlineExceeded",
		},
		"it names the newest revision as late": {
			deployment: watchtest.Deployment(2, 2, late, names("web-b")),
			pods:       []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode)},
			stage:      v1.StageStarting, cause: "ProgressDeadlineExceeded",
		},
		"the revision before was late": {
			deployment: watchtest.Deployment(2, 2, late, names("web-a")),
			pods:       []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode)},
			stage:      v1.StageStarting, cause: none,
		},
		"the newest revision is not known yet": {
			deployment: watchtest.Deployment(3, 3, late, names("web-b"),
				func(d *appsv1.Deployment) { d.Annotations = map[string]string{revisionAnnotation: "3"} }),
			pods:  []watchtest.MadePod{watchtest.Owned("b", watchtest.OnNode, crashing)},
			stage: v1.StageScheduling, cause: none,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"})
			objects := []runtime.Object{test.deployment, replicaSet("a", "1"), replicaSet("b", "2")}
			for i, pod := range test.pods {
				pod.UID += types.UID(string(rune('0' + i)))
				objects = append(objects, pod.Pod)
			}
			for _, o := range objects {
				s = s.Apply(watch.Added, o)
			}
			got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.Epoch)
			if got.Stage != test.stage {
				t.Errorf("%s %q, want %s", got.Stage, got.Message, test.stage)
			}
			if test.cause == none && got.Cause != nil {
				t.Errorf("cause %+v", got.Cause)
			}
			if test.cause != "" && test.cause != none && (got.Cause == nil ||
				!strings.HasPrefix(got.Cause.Code, test.cause)) {
				t.Errorf("cause %+v, want %s", got.Cause, test.cause)
			}
		})
	}
}

// none stands for the cause of a reading that must not have one.
const none = "none"

// names makes the conditions name a ReplicaSet.
func names(replicaSet string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		for i := range d.Status.Conditions {
			d.Status.Conditions[i].Message = fmt.Sprintf("ReplicaSet %q has timed out progressing.", replicaSet)
		}
	}
}

func late(d *appsv1.Deployment) {
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
	}}
}

func replicaSet(uid types.UID, revision string) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: "web-" + string(uid), Namespace: "dev", UID: uid, ResourceVersion: "1",
		Annotations:     map[string]string{revisionAnnotation: revision},
		OwnerReferences: watchtest.OwnedBy(KindDeployment, "web"),
	}}
}

// Every pod of the newest revision is a replica, by name; those of older
// revisions, terminating ones and replaced ones are not.
func TestReplicas(t *testing.T) {
	named := func(name string, pod watchtest.MadePod) *corev1.Pod {
		pod.Name, pod.UID = name, types.UID(name)
		return pod.Pod
	}
	s := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"})
	for _, o := range []runtime.Object{
		watchtest.Deployment(2, 2), replicaSet("a", "1"), replicaSet("b", "2"),
		named("web-b-z7", watchtest.Owned("b", watchtest.OnNode)),
		named("web-b-c4", watchtest.Owned("b", watchtest.OnNode, watchtest.AppReady)),
		named("web-b-k2", watchtest.Owned("b")),
		named("web-a-x1", watchtest.Owned("a", watchtest.OnNode, watchtest.AppReady)),
		named("web-b-old", watchtest.Owned("b", watchtest.OnNode, watchtest.Deleting)),
		named("web-b-gone", watchtest.Owned("b", watchtest.OnNode, evicted)),
	} {
		s = s.Apply(watch.Added, o)
	}
	got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.Epoch)
	want := []v1.Replica{
		{Name: "web-b-c4", Stage: v1.StageRunning, Node: "node1"},
		{Name: "web-b-k2", Stage: v1.StageScheduling},
		{Name: "web-b-z7", Stage: v1.StageStarting, Message: "app is being created", Node: "node1"},
	}
	if !slices.Equal(got.Replicas, want) {
		t.Errorf("%+v, want %+v", got.Replicas, want)
	}
	if pod, _ := Analyze(stateOf(watchtest.NewPod("web", "1").Pod), cause.DefaultPolicy(),
		watchtest.Epoch); pod.Replicas != nil {
		t.Errorf("a pod alone has replicas: %+v", pod.Replicas)
	}
}

// What is ignored in any pod is named once.
func TestAWorkloadsIgnored(t *testing.T) {
	s := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"})
	objects := []runtime.Object{watchtest.Deployment(2, 2), replicaSet("b", "2")}
	for _, uid := range []types.UID{"1", "2"} {
		pod := watchtest.Owned("b", watchtest.OnNode,
			watchtest.App(watchtest.Waits("ErrImagePull", "x/app:1: not found")))
		pod.UID = uid
		objects = append(objects, pod.Pod)
	}
	for _, o := range objects {
		s = s.Apply(watch.Added, o)
	}
	p := cause.DefaultPolicy()
	p.IgnoreReasons = []string{cause.ImageNotFound}
	if got, _ := Analyze(s, p, watchtest.Epoch); !slices.Equal(got.Ignored, p.IgnoreReasons) ||
		got.Stage != v1.StageStarting {
		t.Errorf("%s, ignored %q", got.Stage, got.Ignored)
	}
}

// Sets have all their revisions' pods under one owner: the revision's label tells
// them apart.
func TestAnalyzeSets(t *testing.T) {
	crashing := watchtest.App(watchtest.Exits(1, "Error", 0), watchtest.ExitedBefore(1, "Error", 9))
	member := func(uid types.UID, label, revision string, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := watchtest.NewPod("web-"+string(uid), uid, changes...)
		pod.Labels = map[string]string{label: revision}
		pod.OwnerReferences = watchtest.OwnedBy("Set", "set")
		return pod.Pod
	}
	two := int32(2)
	stateful := func(observed int64, updated, available int32) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{
				Name: "web", Namespace: "dev", UID: "set", ResourceVersion: "1",
				Generation: 2,
			},
			Spec: appsv1.StatefulSetSpec{Replicas: &two},
			Status: appsv1.StatefulSetStatus{
				ObservedGeneration: observed, UpdateRevision: "new", UpdatedReplicas: updated, ReadyReplicas: available,
				AvailableReplicas: available,
			},
		}
	}
	daemons := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "dev", UID: "set", ResourceVersion: "1", Generation: 2,
			Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: "2"},
		},
		Status: appsv1.DaemonSetStatus{
			ObservedGeneration: 2, DesiredNumberScheduled: 2, NumberReady: 1,
			UpdatedNumberScheduled: 1,
		},
	}
	const hash, template = appsv1.ControllerRevisionHashLabelKey, "pod-template-generation"
	for name, test := range map[string]struct {
		kind    string
		objects []runtime.Object
		stage   v1.Stage
		message string
	}{
		"a pod of the revision before crashes": {
			KindStatefulSet,
			[]runtime.Object{
				stateful(2, 1, 1), member("0", hash, "old", crashing),
				member("1", hash, "new", watchtest.OnNode, watchtest.AppReady),
			},
			v1.StageStarting, "1 of 2 ready",
		},
		"a pod of the newest revision crashes": {
			KindStatefulSet,
			[]runtime.Object{
				stateful(2, 1, 1), member("0", hash, "old", watchtest.OnNode, watchtest.AppReady),
				member("1", hash, "new", watchtest.OnNode, crashing),
			},
			v1.StageFailed, "crash loop",
		},
		"the newest revision is not known yet": {
			KindStatefulSet,
			[]runtime.Object{stateful(1, 2, 2), member("0", hash, "new", watchtest.OnNode, crashing)},
			v1.StageScheduling, "no pod yet",
		},
		"the ready one is of the revision before": {
			KindStatefulSet,
			[]runtime.Object{
				stateful(2, 1, 1), member("0", hash, "old", watchtest.OnNode, watchtest.AppReady),
				member("1", hash, "new", watchtest.OnNode),
			},
			v1.StageStarting, "0 of 2 ready; app is being created",
		},
		"all are ready, one of the revision before": {
			KindStatefulSet,
			[]runtime.Object{
				stateful(2, 1, 2), member("0", hash, "old", watchtest.OnNode, watchtest.AppReady),
				member("1", hash, "new", watchtest.OnNode, watchtest.AppReady),
			},
			v1.StageStarting, "1 of 2 ready",
		},
		"all are updated, one is not ready": {
			KindStatefulSet,
			[]runtime.Object{
				stateful(2, 2, 1), member("0", hash, "new", watchtest.OnNode),
				member("1", hash, "new", watchtest.OnNode, watchtest.AppReady),
			},
			v1.StageStarting, "1 of 2 ready",
		},
		"all are there": {
			KindStatefulSet,
			[]runtime.Object{
				stateful(2, 2, 2), member("0", hash, "new", watchtest.OnNode, watchtest.AppReady),
				member("1", hash, "new", watchtest.OnNode, watchtest.AppReady),
			},
			v1.StageRunning, "2 of 2 ready",
		},
		"a daemon of the revision before crashes": {
			KindDaemonSet,
			[]runtime.Object{
				daemons, member("0", template, "1", crashing),
				member("1", template, "2", watchtest.OnNode, watchtest.AppReady),
			},
			v1.StageStarting, "1 of 2 ready",
		},
		"a daemon of the newest revision crashes": {
			KindDaemonSet,
			[]runtime.Object{
				daemons, member("0", template, "1", watchtest.OnNode, watchtest.AppReady),
				member("1", template, "2", watchtest.OnNode, crashing),
			},
			v1.StageFailed, "crash loop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Subject{Kind: test.kind, Namespace: "dev", Name: "web"})
			for _, o := range test.objects {
				s = s.Apply(watch.Added, o)
			}
			got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.Epoch)
			if got.Stage != test.stage || !strings.Contains(got.Message, test.message) {
				t.Errorf("%s %q, want %s %q", got.Stage, got.Message, test.stage, test.message)
			}
		})
	}
}

// A pod of a generated name is found by who owns it, and a successor of another
// name is followed in its place.
func TestGeneratedNames(t *testing.T) {
	first, second := watchtest.Owned("b", watchtest.OnNode), watchtest.Owned("b", watchtest.OnNode, watchtest.AppReady)
	first.Name, first.UID = "web-b-x7k2p", "first"
	second.Name, second.UID = "web-b-q9w4z", "second"
	stages, last, _ := replay(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"}, cause.DefaultPolicy(),
		[]spoken{
			at(0, watchtest.Deployment(2, 2)), at(0, replicaSet("b", "2")), at(1, first.Pod), removed(5, first.Pod),
			at(6, second.Pod), at(7, watchtest.Deployment(2, 2, watchtest.Available)),
		})
	want := []v1.Stage{scheduling, starting, scheduling, starting, running}
	if !slices.Equal(stages, want) || len(last.Replicas) != 1 || last.Replicas[0].Name != "web-b-q9w4z" {
		t.Errorf("%v %+v, want %v", stages, last.Replicas, want)
	}
}

// The pods of a workload that is not known: it has got as far as the one that has
// got the least far.
func TestAnalyzePods(t *testing.T) {
	pod := func(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
		return watchtest.NewPod(name, types.UID(name), changes...).Pod
	}
	running := []func(*corev1.Pod){watchtest.OnNode, watchtest.AppReady}
	crashing := watchtest.App(watchtest.Exits(1, "Error", 0), watchtest.ExitedBefore(1, "Error", 9))
	for _, test := range []struct {
		name string
		pods []*corev1.Pod
		want string
	}{
		{"one", []*corev1.Pod{pod("a", running...)}, "Running 1 of 1 ready [a:Running]"},
		{
			"the least advanced",
			[]*corev1.Pod{pod("b", running...), pod("a", watchtest.OnNode)},
			"Starting 1 of 2 ready; app is being created [a:Starting b:Running]",
		},
		{
			"a failure first",
			[]*corev1.Pod{pod("a"), pod("b", watchtest.OnNode, crashing)},
			"Failed container app: crash loop: 9 restarts, last exit code 1 [a:Scheduling b:Failed]",
		},
		{
			"not those that are replaced",
			[]*corev1.Pod{pod("a", watchtest.OnNode, watchtest.Deleting), pod("c", evicted), pod("b", running...)},
			"Running 1 of 1 ready [b:Running]",
		},
		{
			"unless all are",
			[]*corev1.Pod{pod("a", watchtest.OnNode, watchtest.Deleting)},
			"Terminating grace period 30 s [a:Terminating]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := NewState(Subject{Namespace: "dev"})
			for _, pod := range test.pods {
				s = s.Apply(watch.Added, pod)
			}
			got, _ := AnalyzePods(s, cause.DefaultPolicy(), watchtest.Epoch)
			var replicas []string
			for _, r := range got.Replicas {
				replicas = append(replicas, r.Name+":"+string(r.Stage))
			}
			if read := fmt.Sprintf("%s %s %s", got.Stage, got.Message, replicas); read != test.want {
				t.Errorf("%s, want %s", read, test.want)
			}
		})
	}
}

// A Deployment that was told to wait, and a Job, say so.
func TestWorkloadsThatWereToldToWait(t *testing.T) {
	yes := true
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "once", Namespace: "dev", UID: "once"},
		Spec:       batchv1.JobSpec{Suspend: &yes},
	}
	resumed := job.DeepCopy()
	resumed.Spec.Suspend = new(bool)
	paused := func(d *appsv1.Deployment) { d.Spec.Paused, d.Status.ReadyReplicas, d.Status.Replicas = true, 1, 1 }
	scaled := watchtest.Deployment(2, 2, watchtest.Available, paused)
	for name, test := range map[string]struct {
		subject Subject
		objects []runtime.Object
		want    string // the stage, the message and the cause's code
	}{
		"a suspended job": {
			Subject{Kind: KindJob, Name: "once"},
			[]runtime.Object{job},
			"Scheduling no pod yet JobSuspended",
		},
		"a job that was resumed": {
			Subject{Kind: KindJob, Name: "once"},
			[]runtime.Object{resumed},
			"Scheduling no pod yet ",
		},
		"a paused deployment": {
			Subject{Kind: KindDeployment, Name: "web"},
			[]runtime.Object{
				watchtest.Deployment(2, 2, paused), replicaSet("a", "1"),
				watchtest.Owned("a", watchtest.OnNode, watchtest.AppReady).
					Pod,
			},
			"Scheduling no pod yet; 1 pod of the revision before still ready RolloutPaused",
		},
		"a paused deployment with all that it wants": {
			Subject{Kind: KindDeployment, Name: "web"},
			[]runtime.Object{scaled, replicaSet("a", "1"), watchtest.Owned("a", watchtest.OnNode,
				watchtest.AppReady).Pod},
			"Running 1 of 1 ready ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(test.subject)
			for _, o := range test.objects {
				s = s.Apply(watch.Added, o)
			}
			reading, _ := Analyze(s, cause.DefaultPolicy(), watchtest.After(time.Minute))
			code := ""
			if reading.Cause != nil {
				code = reading.Cause.Code
			}
			if got := fmt.Sprintf("%s %s %s", reading.Stage, reading.Message, code); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Without its ReplicaSets, a Deployment's newest revision is the one that it says it
// works on, or the only one that has pods.
func TestDeploymentWithoutReplicaSets(t *testing.T) {
	pod := func(set types.UID, changes ...func(*corev1.Pod)) *corev1.Pod {
		made := watchtest.Owned(set, changes...)
		made.UID = "pod-" + set
		made.Labels = map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: string(set)}
		made.OwnerReferences[0].Name = "web-" + string(set)
		return made.Pod
	}
	crashing := watchtest.App(watchtest.Exits(1, "Error", 0), watchtest.ExitedBefore(1, "Error", 9))
	progresses := func(d *appsv1.Deployment) {
		d.Status.UpdatedReplicas = 1
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type:    appsv1.DeploymentProgressing,
			Message: `ReplicaSet "web-b" is progressing.`,
		}}
	}
	updated := func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }
	quotes := func(d *appsv1.Deployment) {
		available := appsv1.DeploymentCondition{
			Type:    appsv1.DeploymentAvailable,
			Message: `Deployment "web" has minimum availability.`,
		}
		d.Status.Conditions = append([]appsv1.DeploymentCondition{available}, d.Status.Conditions...)
	}
	stalls := func(d *appsv1.Deployment) {
		updated(d)
		d.Status.Conditions = []appsv1.DeploymentCondition{{
			Type:    appsv1.DeploymentProgressing,
			Message: "Deployment is paused",
		}}
	}
	rewritten := func(d *appsv1.Deployment) {
		at := metav1.NewTime(watchtest.Epoch)
		d.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", Time: &at}}
		d.Status.Conditions[0].LastUpdateTime = at
	}
	stranger := pod("b", watchtest.OnNode, crashing)
	stranger.OwnerReferences[0].Name = "web-admin-b"
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		pods       []*corev1.Pod
		stage      v1.Stage
	}{
		"it names the newest": {
			watchtest.Deployment(2, 2, progresses),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing), pod("b", watchtest.OnNode)},
			v1.StageStarting,
		},
		"another condition quotes a name": {
			watchtest.Deployment(2, 2, progresses, quotes),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing), pod("b", watchtest.OnNode)},
			v1.StageStarting,
		},
		"it has named one that is replaced": {
			watchtest.Deployment(2, 2, updated, late, names("web-a"), rewritten),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing), pod("b", watchtest.OnNode)},
			v1.StageScheduling,
		},
		"it names one that is late": {
			watchtest.Deployment(2, 2, updated, late, names("web-a")),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing), pod("b", watchtest.OnNode)},
			v1.StageFailed,
		},
		"it names none": {
			watchtest.Deployment(2, 2, stalls),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing)},
			v1.StageFailed,
		},
		"it names one that has no pods": {
			watchtest.Deployment(2, 2, progresses),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing)},
			v1.StageScheduling,
		},
		"there is one": {
			watchtest.Deployment(2, 2, updated),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing)},
			v1.StageFailed,
		},
		"there is one, but it is not updated": {
			watchtest.Deployment(2, 2),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing)},
			v1.StageScheduling,
		},
		"there are two": {
			watchtest.Deployment(2, 2, updated),
			[]*corev1.Pod{pod("a", watchtest.OnNode, crashing), pod("b", watchtest.OnNode)},
			v1.StageScheduling,
		},
		"of another deployment": {
			watchtest.Deployment(2, 2, updated),
			[]*corev1.Pod{stranger},
			v1.StageScheduling,
		},
	} {
		t.Run(name, func(t *testing.T) {
			subject := Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"}
			history := []Record{{Type: watch.Added, Object: test.deployment}}
			for _, pod := range test.pods {
				history = append(history, Record{Type: watch.Added, Object: pod})
			}
			s := NewState(subject)
			for _, r := range Related(subject, history) {
				s = s.Apply(r.Type, r.Object)
			}
			if got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.Epoch); got.Stage != test.stage {
				t.Errorf("%s %q, want %s", got.Stage, got.Message, test.stage)
			}
		})
	}
}

// The events of a workload are those of its pods, too.
func TestEventsOfAWorkload(t *testing.T) {
	pod := watchtest.Owned("b", watchtest.OnNode)
	other := watchtest.Event("other", "2", "", "BackOff", "of another pod").Event
	other.UID = "other"
	s := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"})
	for _, o := range []runtime.Object{
		watchtest.Deployment(2, 2), replicaSet("b", "2"), pod.Pod,
		watchtest.Event("web", pod.UID, "", "BackOff", "of its pod").Event, other,
	} {
		s = s.Apply(watch.Added, o)
	}
	if all := s.Events(); len(all) != 1 || all[0].Message != "of its pod" {
		t.Errorf("%v", all)
	}
}

// A workload is gone once it was there.
func TestWorkloadThatIsGone(t *testing.T) {
	begin := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"})
	for want, s := range map[v1.Verdict]State{
		v1.VerdictWaiting: begin.Apply(watch.Deleted, watchtest.Owned("b").Pod),
		v1.VerdictGone: begin.Apply(watch.Added, watchtest.Deployment(2, 2)).
			Apply(watch.Deleted, watchtest.Deployment(2, 2)),
	} {
		if got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.Epoch); got.Verdict() != want {
			t.Errorf("%s, want %s", got.Verdict(), want)
		}
	}
}

// A StatefulSet makes and replaces one pod after the other.
func TestStatefulSetInOrder(t *testing.T) {
	three := int32(3)
	set := func(changes ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
		set := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "dev", UID: "db"},
			Spec:       appsv1.StatefulSetSpec{Replicas: &three},
		}
		set.Status.UpdateRevision = "new"
		for _, change := range changes {
			change(set)
		}
		return set
	}
	pod := func(name, revision string, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := watchtest.NewPod(name, types.UID(name), changes...)
		pod.OwnerReferences = watchtest.OwnedBy(KindStatefulSet, "db")
		pod.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}
		return pod.Pod
	}
	starts := watchtest.App(watchtest.Runs(0))
	ready := func(name, revision string) *corev1.Pod {
		return pod(name, revision, watchtest.OnNode, watchtest.AppReady)
	}
	parallel := func(set *appsv1.StatefulSet) { set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }
	for name, test := range map[string]struct {
		set  *appsv1.StatefulSet
		pods []*corev1.Pod
		says string
	}{
		"the first is not ready": {
			set(),
			[]*corev1.Pod{pod("db-0", "new", watchtest.OnNode, starts)},
			"db-1 is made once db-0 is ready",
		},
		"nor the second": {
			set(),
			[]*corev1.Pod{ready("db-0", "new"), pod("db-1", "new", watchtest.OnNode, starts)},
			"db-2 is made once db-1 is ready",
		},
		"the next is being replaced": {
			set(),
			[]*corev1.Pod{
				ready("db-0", "old"), pod("db-1", "old", watchtest.OnNode, watchtest.Deleting),
				ready("db-2", "new"),
			},
			"",
		},
		"all are made": {
			set(),
			[]*corev1.Pod{ready("db-0", "new"), ready("db-1", "new"), pod("db-2", "new", watchtest.OnNode, starts)},
			"",
		},
		"all at once": {set(parallel), []*corev1.Pod{pod("db-0", "new", watchtest.OnNode, starts)}, ""},
		"one of the revision before": {
			set(),
			[]*corev1.Pod{ready("db-0", "old"), pod("db-1", "old", watchtest.OnNode, starts), ready("db-2", "new")},
			"RevisionBlocked: db-1 of the revision before is not ready",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Subject{Kind: KindStatefulSet, Name: "db"}).Apply(watch.Added, test.set)
			for _, pod := range test.pods {
				s = s.Apply(watch.Added, pod)
			}
			reading, _ := Analyze(s, cause.DefaultPolicy(), watchtest.After(time.Minute))
			text := reading.Message
			if reading.Cause != nil {
				text += " " + reading.Cause.Code + ": " + reading.Cause.Message
			}
			if !strings.Contains(text, test.says) || test.says == "" &&
				(strings.Contains(text, "once") || reading.Cause != nil) {
				t.Errorf("%q, want %q", text, test.says)
			}
		})
	}
}

// lastFailed is the pod of this Job that failed last.
func TestLastFailed(t *testing.T) {
	pod := func(name string, job types.UID, phase corev1.PodPhase, ended time.Duration) *corev1.Pod {
		exits := watchtest.App(watchtest.Exits(1, "Error", ended))
		p := watchtest.NewPod(name, types.UID(name), watchtest.OnNode, exits)
		p.Status.Phase = phase
		if job != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "job", UID: job, Controller: new(true)}}
		}
		return p.Pod
	}
	s := NewState(Subject{Kind: KindJob, Namespace: "dev", Name: "job"})
	if got := s.lastFailed("job"); got != nil {
		t.Errorf("of no pods: %s", got.Name)
	}
	for _, p := range []*corev1.Pod{
		pod("first", "job", corev1.PodFailed, time.Second), pod("last", "job", corev1.PodFailed, 2*time.Second),
		pod("runs", "job", corev1.PodRunning, 3*time.Second), pod("other", "other", corev1.PodFailed, 4*time.Second),
		pod("alone", "", corev1.PodFailed, 5*time.Second),
	} {
		s = s.Apply(watch.Added, p)
	}
	if got := s.lastFailed("job"); got == nil || got.Name != "last" {
		t.Errorf("%+v", got)
	}
}
