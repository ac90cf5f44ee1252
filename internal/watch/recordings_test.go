package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
)

// expectation is what expected.yaml says of a recording.
type expectation struct {
	Subject   string     `json:"subject"`
	Stages    []v1.Stage `json:"stages"`
	Verdict   v1.Verdict `json:"verdict"`
	Cause     []string   `json:"cause"`
	Container string     `json:"container"`
	Within    float64    `json:"within"`
}

func TestRecordings(t *testing.T) {
	expected := recorded(t)
	files, _ := filepath.Glob("testdata/recordings/*.jsonl")
	if len(files) != len(expected) {
		t.Errorf("%d recordings, %d expectations", len(files), len(expected))
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) { checkRecording(t, history(t, name), want) })
	}
}

func recorded(t *testing.T) map[string]expectation {
	t.Helper()
	expected := map[string]expectation{}
	raw, err := os.ReadFile("testdata/recordings/expected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(raw, &expected); err != nil {
		t.Fatal(err)
	}
	return expected
}

func checkRecording(t *testing.T, history []Record, want expectation) {
	var stages []v1.Stage
	var last v1.Snapshot
	var failedAfter time.Duration = -1
	var firstCause *v1.Cause
	Replay(subjectOf(want.Subject, history), history, cause.DefaultPolicy(), func(at time.Time, s v1.Snapshot) {
		if len(stages) == 0 || stages[len(stages)-1] != s.Stage {
			stages = append(stages, s.Stage)
			t.Logf("%7.2f %-12s %q %s", at.Sub(history[0].At).Seconds(), s.Stage, s.Message,
				s.Since.Format(time.TimeOnly))
		}
		if s.Stage == v1.StageFailed && failedAfter < 0 {
			failedAfter, firstCause = at.Sub(history[0].At), s.Cause
		}
		last = s
	})
	if !contains(stages, want.Stages) {
		t.Errorf("stages %v, want %v in this order", stages, want.Stages)
	}
	if last.Verdict() != want.Verdict {
		t.Errorf("verdict %s, want %s", last.Verdict(), want.Verdict)
	}
	if want.Within > 0 && (failedAfter < 0 || failedAfter.Seconds() > want.Within) {
		t.Errorf("failed after %s, want within %v s", failedAfter, want.Within)
	}
	if want.Verdict == v1.VerdictFailed {
		checkCause(t, firstCause, want)
	}
	if want.Cause != nil {
		checkCause(t, last.Cause, want)
	}
}

// checkCause looks at a cause: when it was first called failed, and at the end.
func checkCause(t *testing.T, cause *v1.Cause, want expectation) {
	t.Helper()
	if cause == nil {
		t.Fatal("no cause")
	}
	t.Logf("cause: %s: %s", cause.Code, cause.Message)
	for _, word := range want.Cause {
		if !strings.Contains(cause.Message, word) {
			t.Errorf("cause %q does not say %q", cause.Message, word)
		}
	}
	if cause.Container != want.Container {
		t.Errorf("cause is about container %q, want %q", cause.Container, want.Container)
	}
}

// subjectOf reads kind/name, or a pod's name, of which the beginning is enough.
func subjectOf(text string, history []Record) Subject {
	if kind, name, ok := strings.Cut(text, "/"); ok {
		return Subject{Kind: strings.ToUpper(kind[:1]) + kind[1:], Name: name}
	}
	for _, r := range history {
		if pod, ok := r.Object.(*corev1.Pod); ok && strings.HasPrefix(pod.Name, text) {
			return Subject{Namespace: pod.Namespace, Name: pod.Name}
		}
	}
	return Subject{Name: text}
}

// What is no change is an error that says what is wrong with it.
func TestReadRecord(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": "ADDED", `: "unexpected end of JSON input",
		`[]`:                 "cannot unmarshal array",
		`{"object": {}}`:     `type "": must be one of ADDED, MODIFIED, DELETED`,
		`{"type": "ADDED", "at": -1, "object": {}}`:                                     `invalid "at" -1`,
		`{"type": "ADDED", "at": 253402300800, "object": {}}`:                           `invalid "at" 2.534023008e+11`,
		`{"type": "ADDED", "at": 0}`:                                                    `"object" is required`,
		`{"type": "ADDED", "at": 253402300799}`:                                         `"object" is required`,
		`{"type": "ADDED", "object": {}}`:                                               "Kind' is missing",
		`{"type": "ADDED", "object": {"kind": "Crew", "apiVersion": "example.org/v1"}}`: "",
		`{"type": "BOOKMARK", "object": {}}`:                                            "",
		`{"type": "ERROR", "object": {"kind": "Status"}}`:                               "",
	} {
		_, known, err := ReadRecord([]byte(text))
		if known || (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %t, %v, want %q", text, known, err, want)
		}
	}
}

func history(t *testing.T, name string) (history []Record) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "recordings", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		record, known, err := ReadRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		if known {
			history = append(history, record)
		}
	}
	return history
}

// contains reports whether got has all of want in this order.
func contains(got, want []v1.Stage) bool {
	for _, stage := range want {
		i := slices.Index(got, stage)
		if i < 0 {
			return false
		}
		got = got[i+1:]
	}
	return true
}

// In none of the recordings that come up does a person read why they wait; in
// those that keep waiting, the cause is tentative first.
func TestTentativeInRecordings(t *testing.T) {
	for name, lasts := range map[string]bool{
		"ok-init-ready": false, "ok-slow-pull": false, "job-ok": false,
		"pvc-missing-class": true, "unsched-cpu": true, "readiness-fail": true, "volume-missing-configmap": true,
		"quota-exceeded": true,
	} {
		t.Run(name, func(t *testing.T) {
			history := history(t, name)
			var tentative, lasting int
			Replay(subjectOf(recorded(t)[name].Subject, history), history, cause.DefaultPolicy(),
				func(_ time.Time, s v1.Snapshot) {
					switch {
					case s.Cause == nil:
					case s.Cause.Tentative:
						tentative++
					default:
						lasting++
					}
				})
			if lasts != (lasting > 0) || lasts && tentative == 0 {
				t.Errorf("%d tentative, %d lasting readings", tentative, lasting)
			}
		})
	}
}

// What came up by itself did not fail at any moment, and was never stuck: neither for who
// followed it, nor for the reader of a dump that was made of it then, in which nothing is
// tentative.
func TestNothingLastsInWhatComesUp(t *testing.T) {
	asked := 0
	for name, want := range recorded(t) {
		if want.Verdict != v1.VerdictRunning && want.Verdict != v1.VerdictStopped {
			continue
		}
		asked++
		t.Run(name, func(t *testing.T) {
			history := history(t, name)
			subject := subjectOf(want.Subject, history)
			var last v1.Snapshot
			passes := func(what string, at time.Time, s v1.Snapshot) {
				if s.Verdict() == v1.VerdictFailed || s.Cause != nil && s.Cause.Stuck {
					t.Errorf("%s at %s is %s because of %+v", what, at.Format(time.TimeOnly), s.Stage, s.Cause)
				}
			}
			Replay(subject, history, cause.DefaultPolicy(), func(at time.Time, s v1.Snapshot) {
				passes("it", at, s)
				last = s
			})
			if last.Cause != nil {
				t.Errorf("in the end it has the cause %+v", last.Cause)
			}
			state := NewState(subject)
			dumped := cause.DefaultPolicy()
			dumped.CauseDelay = 0
			for _, r := range history {
				state = state.Apply(r.Type, r.Object)
				s, _ := Analyze(state, dumped, r.At)
				passes("a dump made", r.At, s)
			}
		})
	}
	if asked < 5 {
		t.Errorf("%d recordings come up", asked)
	}
}
