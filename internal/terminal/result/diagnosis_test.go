package result_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func diagnoses() map[string]*v1.Diagnosis {
	exit, restarts, failedAt := 1, 4, 40.25
	moment := func(offset float64, stage v1.Stage, message string) v1.Moment {
		return v1.Moment{
			At: terminaltest.T0.Add(style.Seconds(offset)), Offset: offset, Stage: stage,
			Status: stage.Status(), Message: message,
		}
	}
	return map[string]*v1.Diagnosis{
		"failed": {
			Subject: "pod/carol-9d4b2e6", Namespace: "workspaces", UserString: "carol~repo:a/b", Blueprint: "repo-a-b",
			At: terminaltest.T0.Add(2 * time.Minute), Verdict: v1.VerdictFailed, Stage: v1.StageFailed,
			Status: v1.StatusFailing,
			Since:  terminaltest.T0.Add(style.Seconds(failedAt)), FailedAt: &failedAt,
			Cause: &v1.Cause{
				Code: "CrashLoop", Message: "container k8shell-main: crash loop", Container: "k8shell-main",
				Restarts: &restarts, ExitCode: &exit,
			},
			Hint: "Container k8shell-main starts, ends, and is started again, at ever longer intervals. Its program " +
				"ended with exit code 1.",
			Containers: []v1.Container{{
				Name: "k8shell-main", Image: "registry.example.com/a:1", State: v1.ContainerFailed,
				Restarts: 4, ExitCode: &exit,
			}},
			Warnings: []v1.Warning{{
				Reason: "BackOff", Message: "back-off 40s restarting failed container", Count: 12,
				Object: "pod/carol-9d4b2e6:k8shell-main", At: terminaltest.T0.Add(time.Minute),
			}},
			Timeline: []v1.Moment{
				moment(0, v1.StageScheduling, ""), moment(0.1, v1.StageStarting, "k8shell-main is being created"),
				moment(40.25, v1.StageFailed, "container k8shell-main: crash loop: 3 restarts, last exit code 1"),
			},
			Logs: &v1.LogTail{
				Container: "k8shell-main", Previous: true,
				Lines: []string{"starting workspace", "/etc/profile.d/team.sh: line 3: nodenv: not found"},
			},
		},
		"waiting": {
			Subject: "deployment/web", Namespace: "shop", At: terminaltest.T0.Add(time.Minute),
			Verdict: v1.VerdictWaiting, Stage: v1.StageScheduling, Status: v1.StatusProvisioning,
			Since:   terminaltest.T0,
			Message: "1 of 2 ready",
			Cause: &v1.Cause{
				Code:    "QuotaExceeded",
				Message: "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1",
				Object:  "replicaset/web-1",
			},
			Hint:     "Quota q of the namespace is used up.",
			Timeline: []v1.Moment{moment(0, v1.StageScheduling, "1 of 2 ready")},
		},
		"workload": {
			Subject: "deployment/web", Namespace: "shop", At: terminaltest.T0.Add(24 * time.Minute),
			Verdict: v1.VerdictWaiting, Stage: v1.StageStarting, Status: v1.StatusProvisioning, Since: terminaltest.T0,
			Message: "2 of 3 ready; app is being created", Node: "gpu-7",
			Cause: &v1.Cause{
				Code: "SandboxFailed", Object: "pod/web-7d9f-bpvks",
				Message: `Failed to create pod sandbox: rpc error: code = Unknown desc = no runtime for ` +
					`"nvidia" is configured`,
			},
			Hint: `The node does not have the container runtime that "runtimeClassName" asks for.`,
			Warnings: []v1.Warning{{
				Reason: "FailedCreatePodSandBox", Count: 93, Object: "pod/web-7d9f-bpvks",
				At: terminaltest.T0.Add(23 * time.Minute),
				Message: `Failed to create pod sandbox: rpc error: code = Unknown desc = no runtime for ` +
					`"nvidia" is configured`,
			}},
			Timeline: []v1.Moment{
				moment(0, v1.StageScheduling, "no pod yet"),
				moment(3, v1.StageStarting, "2 of 3 ready"),
			},
		},
		"running": {
			Subject: "pod/alice-3f9c2e1", Namespace: "workspaces", UserString: "alice~dev",
			At:      terminaltest.T0.Add(time.Hour),
			Verdict: v1.VerdictRunning, Stage: v1.StageRunning, Status: v1.StatusRunning, Since: terminaltest.T0,
		},
		"gone": {
			Subject: "pod/api", Namespace: "shop", At: terminaltest.T0, Verdict: v1.VerdictGone, Stage: v1.StageUnknown,
			Status: v1.StatusUnknown,
			Since:  terminaltest.T0, Message: "deleted", Hint: "The pod was deleted.",
		},
	}
}

func TestDiagnosis(t *testing.T) {
	for name, d := range diagnoses() {
		t.Run(name, func(t *testing.T) {
			goldentest.Check(t, "diagnosis/"+name+"-colour.txt",
				terminaltest.Visible(printed(t, "text", result.Diagnosis{Diagnosis: *d}, 100, style.Colour16)))
			goldentest.Check(t, "diagnosis/"+name+"-pipe.txt",
				printed(t, "text", result.Diagnosis{Diagnosis: *d}, 0, style.NoColour))
			goldentest.Check(t, "diagnosis/"+name+".json",
				printed(t, "json", result.Diagnosis{Diagnosis: *d}, 0, style.NoColour))
			for _, columns := range []int{40, 80} {
				got := printed(t, "text", result.Diagnosis{Diagnosis: *d}, columns, style.NoColour)
				goldentest.Check(t, "diagnosis/"+name+"-"+strconv.Itoa(columns)+".txt", got)
				for line := range strings.SplitSeq(got, "\n") {
					if style.Width(line) >= columns && !strings.Contains(line, "berth ") &&
						!strings.Contains(line, "kubectl ") {
						t.Errorf("%d columns: %q", style.Width(line), line)
					}
				}
			}
		})
	}
}

// Of a cause that lasts, it is said where there is more to read.
func TestDiagnosisEndsWithTheExplanation(t *testing.T) {
	const see = "\n    See `berth explain CrashLoop`.\n"
	d := *diagnoses()["failed"]
	for name, c := range map[string]struct {
		explained, tentative, ends bool
	}{
		"more to read": {explained: true, ends: true},
		"nothing more": {},
		"may pass yet": {explained: true, tentative: true},
	} {
		d.Cause = &v1.Cause{Code: "CrashLoop", Message: "crash loop", Tentative: c.tentative}
		got := printed(t, "text", result.Diagnosis{Diagnosis: d, Explained: c.explained}, 80, style.NoColour)
		if strings.HasSuffix(got, see) != c.ends || strings.Contains(got, "berth explain") != c.ends {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// However narrow the page is, a container has its state and the end of its image, which is the tag; one that never
// starts says so.
func TestContainersOnNarrowPages(t *testing.T) {
	exit := 2
	d := v1.Diagnosis{Subject: "pod/a", Verdict: v1.VerdictFailed, Stage: v1.StageFailed, Containers: []v1.Container{
		{
			Name: "manager", Image: "docker.io/openkruise/kruise-manager:v1.8.0", State: v1.ContainerFailed,
			Reason: "CrashLoopBackOff", Restarts: 8, ExitCode: &exit,
		},
		{Name: "side", Image: "ide:2026.11.21-3f9a7c1", State: v1.ContainerWaiting, Reason: v1.NotStarted},
	}}
	for columns, want := range map[int][]string{
		100: {"exit code 2   8          kruise-manager:v1.8.0", "not started"},
		72:  {"failed CrashLoopBackOff", " 8 ", "ger:v1.8.0", "3f9a7c1", "not started"},
		60:  {"failed CrashLoopBackOff", "ger:v1.8.0", "3f9a7c1", "not started"},
	} {
		got := printed(t, "text", result.Diagnosis{Diagnosis: d}, columns, style.NoColour)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%d columns: no %q in\n%s", columns, part, got)
			}
		}
	}
}

func TestDiagnosisIsHarmless(t *testing.T) {
	w := terminaltest.HostileWorkspace()
	d := &v1.Diagnosis{
		Subject: terminaltest.Hostile, Namespace: terminaltest.Hostile, UserString: terminaltest.Hostile,
		Blueprint: terminaltest.Hostile,
		Verdict:   v1.VerdictFailed, Stage: v1.StageFailed, Message: terminaltest.Hostile, Hint: terminaltest.Hostile,
		Cause: w.Cause, Containers: w.Containers, Warnings: w.Warnings,
		Timeline: []v1.Moment{
			{Stage: v1.StageScheduling, Message: terminaltest.Hostile},
			{Stage: v1.StageFailed, Message: terminaltest.Hostile},
		},
		Logs: &v1.LogTail{Container: terminaltest.Hostile, Lines: []string{terminaltest.Hostile}},
	}
	terminaltest.Harmless(t, "diagnosis", printed(t, "text", result.Diagnosis{Diagnosis: *d}, 0, style.NoColour))
	terminaltest.Harmless(t, "diagnosis", printed(t, "text", result.Diagnosis{Diagnosis: *d}, 80, style.NoColour))
	d.UserString, d.Blueprint, d.Cause = "", "", &v1.Cause{Code: terminaltest.Hostile, Message: terminaltest.Hostile}
	terminaltest.Harmless(t, "diagnosis of a pod",
		printed(t, "text", result.Diagnosis{Diagnosis: *d, Explained: true}, 80, style.NoColour))
}
