package watch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func patient() Policy {
	p := DefaultPolicy()
	p.Name, p.GracePeriod = PolicyPatient, time.Minute
	return p
}

func pullError(cause string) string {
	return fmt.Sprintf("Failed to pull image %q: rpc error: code = Unknown desc = %s", "x/app:1", cause)
}

// What is known to pass waits for the grace period under patient; what is not
// fails at once under both; fast waits for nothing.
func TestWhatPasses(t *testing.T) {
	for _, test := range []struct {
		said   string
		code   string
		passes bool
	}{
		{"unexpected status from HEAD request to https://r/v2/x/app/manifests/1: 429 Too Many Requests", CauseRegistryRateLimited, true},
		{"toomanyrequests: You have reached your pull rate limit", CauseRegistryRateLimited, true},
		{"unexpected status from HEAD request to https://r/v2/: 500 Internal Server Error", CauseRegistryUnreachable, true},
		{"unexpected status code https://r/v2/: 502 Bad Gateway", CauseRegistryUnreachable, true},
		{"unexpected status from HEAD request to https://r/v2/: 503 Service Unavailable", CauseRegistryUnreachable, true},
		{"unexpected status from HEAD request to https://r/v2/: 521 <none>", CauseRegistryUnreachable, true},
		{`failed to do request: Head "https://r/v2/": dial tcp 10.0.0.9:443: connect: connection refused`, CauseRegistryUnreachable, true},
		{`failed to do request: Head "https://r/v2/": dial tcp 10.0.0.9:443: i/o timeout`, CauseRegistryUnreachable, true},
		{`failed to do request: Head "https://r/v2/": net/http: TLS handshake timeout`, CauseRegistryUnreachable, true},
		{"context deadline exceeded", CauseRegistryUnreachable, true},
		{`dial tcp: lookup r on 10.0.0.10:53: read udp 10.0.0.1:4->10.0.0.10:53: i/o timeout`, CauseRegistryUnreachable, true},
		{`dial tcp: lookup r on 10.0.0.10:53: server misbehaving`, CauseRegistryUnreachable, true},
		{"pull QPS exceeded", CauseImagePullFailed, true},
		{`dial tcp: lookup r on 10.0.0.10:53: no such host`, CauseRegistryUnreachable, false},
		{"tls: failed to verify certificate: x509: certificate signed by unknown authority", CauseRegistryUnreachable, false},
		{"x/app:1: not found", CauseImageNotFound, false},
		{"pull access denied, repository does not exist", CauseImagePullDenied, false},
		{"unexpected status from HEAD request to https://r/v2/: 401 Unauthorized", CauseImagePullDenied, false},
		{"no match for platform in manifest", CauseImageWrongPlatform, false},
		{"who knows", CauseImagePullFailed, false},
	} {
		s := stateOf(watchtest.NewPod("web", "1", watchtest.OnNode).Pod, warning("app", "Failed", pullError(test.said)))
		got, _ := Analyze(s, DefaultPolicy(), watchtest.After(time.Second))
		if got.Stage != v1.StageFailed || got.Cause.Code != test.code {
			t.Errorf("fast, %s: %s, %+v", test.said, got.Stage, got.Cause)
		}
		got, next := Analyze(s, patient(), watchtest.After(patient().CauseDelay))
		want, wantNext := v1.StageFailed, time.Time{}
		if test.passes {
			want, wantNext = v1.StageStarting, watchtest.After(time.Minute)
		}
		if got.Stage != want || got.Cause == nil || got.Cause.Code != test.code || !next.Equal(wantNext) {
			t.Errorf("patient, %s: %s until %s, %+v", test.said, got.Stage, next, got.Cause)
		}
		if test.passes && (len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, test.said)) {
			t.Errorf("patient, %s: warnings %+v", test.said, got.Warnings)
		}
	}
}

// What is permanent fails at once under both policies.
func TestPermanentCauses(t *testing.T) {
	for code, wait := range map[string]func(*corev1.ContainerStatus){
		CauseInvalidImageName: watchtest.Waits("InvalidImageName", `couldn't parse image name "X:1"`),
		CauseImageNotPresent:  watchtest.Waits("ErrImageNeverPull", ""),
		CauseConfigMissing:    watchtest.Waits("CreateContainerConfigError", "couldn't find key url in Secret dev/db"),
		CauseCommandNotFound:  watchtest.Waits("RunContainerError", `exec: "nope": executable file not found in $PATH`),
		CauseExecFormat:       watchtest.Waits("RunContainerError", "exec /app: exec format error"),
		CauseImageNotFound:    watchtest.Waits("ImagePullBackOff", `Back-off pulling image "x/app:1": ErrImagePull: x/app:1: not found`),
		CauseImagePullDenied:  watchtest.Waits("ErrImagePull", "pull access denied"),
	} {
		for _, p := range []Policy{DefaultPolicy(), patient()} {
			got, _ := Analyze(stateOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(wait)).Pod), p, watchtest.Epoch)
			if got.Stage != v1.StageFailed || got.Cause.Code != code {
				t.Errorf("%s, %s: %s, %+v", p.Name, code, got.Stage, got.Cause)
			}
		}
	}
}

// What the patient policy makes of time: the grace period is a minute.
func TestPatience(t *testing.T) {
	refuses := warning("app", "Failed", pullError("dial tcp 10.0.0.9:443: connect: connection refused"))
	grows := about("", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 9)}]")
	noCPU := warning("", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.")
	inUse := warning("", "FailedAttachVolume", `Multi-Attach error for volume "pvc-1"`)
	other := func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
	}
	for name, test := range map[string]struct {
		said    []spoken
		stages  []v1.Stage
		cause   string
		warning string
	}{
		"a registry that refuses for less than the grace period": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(5, refuses), quiet(64), at(64, about("app", "Pulled", "Successfully pulled")), at(66, webPod(watchtest.OnNode, watchtest.AppReady)),
			},
			stages: []v1.Stage{starting, running}, warning: "connection refused",
		},
		"a registry that refuses for longer": {
			said:   []spoken{at(0, webPod(watchtest.OnNode)), at(5, refuses), quiet(66)},
			stages: []v1.Stage{starting, failed}, cause: "RegistryUnreachable: connection refused (did not pass within 1m)", warning: "connection refused",
		},
		"a registry of which only the status tells": {
			said:   []spoken{at(0, webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ErrImagePull", "503 Service Unavailable")))), quiet(59)},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable: (may pass: waiting up to 1m)", warning: "ErrImagePull: container app: image x/app:1 cannot be pulled: 503",
		},
		"and for longer": {
			said:   []spoken{at(0, webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ErrImagePull", "503 Service Unavailable")))), quiet(61)},
			stages: []v1.Stage{starting, failed}, cause: "RegistryUnreachable",
		},
		"the kubelet only says that it backs off": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(5, refuses), at(20, webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ImagePullBackOff", `Back-off pulling image "x/app:1"`)))),
			},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable: connection refused",
		},
		"another image that arrives is progress": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode, other)), at(5, refuses), at(50, about("other", "Pulled", "Successfully pulled")), quiet(109),
			},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable",
		},
		"and the last one": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode, other)), at(5, refuses), at(50, about("other", "Pulled", "Successfully pulled")), quiet(111),
			},
			stages: []v1.Stage{starting, failed}, cause: "RegistryUnreachable",
		},
		"an answer that is final ends the grace": {
			said:   []spoken{at(0, webPod(watchtest.OnNode)), at(5, refuses), at(15, warning("app", "Failed", pullError("x/app:1: not found")))},
			stages: []v1.Stage{starting, failed}, cause: "ImageNotFound",
		},
		"the grace of a pull after one that went well": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(2, refuses), at(30, about("app", "Pulled", "Successfully pulled")), at(31, webPod(watchtest.OnNode, watchtest.App(watchtest.Runs(30*time.Second)))),
				at(90, webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ErrImagePull", "connection refused"), endedAt(89*time.Second)))), at(90, refuses), quiet(140),
			},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable",
		},
		"no node, and the cluster does not grow": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), quiet(3600)},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: 3 Insufficient cpu",
		},
		"the cluster grows": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), at(10, grows), quiet(69)},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: a node is being added", warning: "FailedScheduling",
		},
		"the cluster says that it grows, and does not": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), at(10, grows), quiet(71)},
			stages: []v1.Stage{scheduling, failed}, cause: "Unschedulable: did not pass within 1m",
		},
		"it tries once more": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), at(10, grows), at(65, about("", "TriggeredScaleUp", "pod triggered scale-up: [{other 0->1}]")), quiet(120)},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: other 0->1",
		},
		"a volume that another node gives back": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, inUse), quiet(50), at(55, about("", "SuccessfulAttachVolume", "AttachVolume.Attach succeeded")), quiet(100),
			},
			stages: []v1.Stage{starting}, warning: "Multi-Attach",
		},
		"a volume that another node keeps": {
			said:   []spoken{at(0, webPod(watchtest.OnNode)), at(1, inUse), quiet(62)},
			stages: []v1.Stage{starting, failed}, cause: "VolumeNotMounted: Multi-Attach", warning: "Multi-Attach",
		},
		"a pull that ran into its time-out, of which the status tells first": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, about("app", "Pulling", `Pulling image "x/app:1"`)), at(600, webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ErrImagePull", "i/o timeout")))),
			},
			stages: []v1.Stage{starting, pulling, starting}, cause: "RegistryUnreachable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			stages, last, warnings := tale(web, patient(), test.said)
			if !slices.Equal(stages, test.stages) {
				t.Errorf("stages %v, want %v", stages, test.stages)
			}
			checkRealCause(t, last.Cause, test.cause)
			if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, test.warning) }) && test.warning != "" {
				t.Errorf("no warning says %q: %q", test.warning, warnings)
			}
		})
	}
}

func endedAt(d time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.RestartCount = 1
		s.LastTerminationState.Terminated = watchtest.Termination(1, "Error", d)
	}
}

// The threshold of the crash loop: for init containers it holds under patient.
func TestInitContainersThreshold(t *testing.T) {
	for _, test := range []struct {
		policy   Policy
		restarts int32
		sidecar  bool
		stage    v1.Stage
		cause    string
	}{
		{DefaultPolicy(), 0, false, v1.StageFailed, "InitFailed: exit code 3"},
		{patient(), 0, false, v1.StageInitializing, "ContainerExited: exit code 3"},
		{patient(), 2, false, v1.StageInitializing, "ContainerExited: exit code 3 after 2 restarts"},
		{patient(), 3, false, v1.StageFailed, "InitFailed: exit code 3 after 3 restarts"},
		{DefaultPolicy(), 2, true, v1.StageInitializing, "ContainerExited"},
		{DefaultPolicy(), 3, true, v1.StageFailed, "CrashLoop: 3 restarts"},
		{patient(), 3, true, v1.StageFailed, "CrashLoop: 3 restarts"},
	} {
		restart := &always
		if !test.sidecar {
			restart = nil
		}
		pod := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.InitContainer("setup", restart, watchtest.Exits(3, "Error", time.Second), watchtest.ExitedBefore(3, "Error", test.restarts)),
			watchtest.App(watchtest.Waits("PodInitializing", "")))
		got, _ := Analyze(stateOf(pod.Pod), test.policy, watchtest.After(2*time.Second))
		if got.Stage != test.stage {
			t.Errorf("%+v: %s", test, got.Stage)
		}
		compareCause(t, got.Cause, test.cause)
	}
}

// A reason is ignored by the cause's code and by Kubernetes' words, in any case.
func TestIgnored(t *testing.T) {
	pull := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Waits("ImagePullBackOff", "x/app:1: not found"))).Pod
	loop := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(time.Second), watchtest.ExitedBefore(1, "Error", 9))).Pod
	start := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Waits("RunContainerError", "exec /app: exec format error"))).Pod
	for _, test := range []struct {
		pod     *corev1.Pod
		reason  string
		ignored string // empty if that does not ignore it
	}{
		{pull, "ImageNotFound", "ImageNotFound"},
		{pull, "imagenotfound", "ImageNotFound"},
		{pull, "ImagePullBackOff", "ImageNotFound"},
		{pull, "errimagepull", "ImageNotFound"},
		{pull, "ImagePullDenied", ""},
		{loop, "CrashLoop", "CrashLoop"},
		{loop, "CrashLoopBackOff", "CrashLoop"},
		{loop, "BackOff", "CrashLoop"},
		{start, "RunContainerError", "ExecFormat"},
		{start, "CreateContainerError", ""},
	} {
		p := DefaultPolicy()
		p.IgnoreReasons = []string{test.reason}
		got, _ := Analyze(stateOf(test.pod, about("app", "BackOff", "Back-off restarting failed container")), p, watchtest.After(time.Minute))
		if (got.Stage == v1.StageFailed) != (test.ignored == "") || strings.Join(got.Ignored, ",") != test.ignored {
			t.Errorf("%s: %s, ignored %q, want %q", test.reason, got.Stage, got.Ignored, test.ignored)
		}
		if test.ignored != "" && got.Cause == nil {
			t.Errorf("%s: the cause is not told", test.reason)
		}
	}
}

// Every cause in causes.go can be named to be ignored.
func TestReasons(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "causes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes, kubernetes := Reasons()
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			if code, _ := strconv.Unquote(literal.Value); !slices.Contains(codes, code) {
				t.Errorf("%s is not there", code)
			}
		}
		return true
	})
	for _, word := range kubernetes {
		if proper, ok := Reason(strings.ToUpper(word)); !ok || proper != word {
			t.Errorf("%s is %q, %t", word, proper, ok)
		}
	}
	if _, ok := Reason("NoSuchThing"); ok {
		t.Error("what there is not was found")
	}
}
