package diagnose_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
)

const recordings = "../../watch/testdata/recordings/"

// diagnosis runs diagnose and reads what it prints.
func diagnosis(t *testing.T, stdin string, args ...string) v1.Diagnosis {
	t.Helper()
	status, stdout, stderr := offline(t, stdin, append([]string{"diagnose", "-o", "json"}, args...)...)
	if status != 0 {
		t.Fatalf("exit status %d\n%s%s", status, stdout, stderr)
	}
	schematest.Validate(t, []byte(stdout))
	var d v1.Diagnosis
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// offline runs berth without a cluster.
func offline(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmdtest.Offline(t)
	return cmdtest.Run(t, stdin, args...)
}

// expectation is what expected.yaml says of a recording.
type expectation struct {
	Subject   string     `json:"subject"`
	Stages    []v1.Stage `json:"stages"`
	Verdict   v1.Verdict `json:"verdict"`
	Cause     []string   `json:"cause"`
	Container string     `json:"container"`
	Within    float64    `json:"within"`
}

func TestDiagnoseRecordings(t *testing.T) {
	raw, err := os.ReadFile(recordings + "expected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]expectation
	if err := yaml.UnmarshalStrict(raw, &expected); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(recordings + "*.jsonl")
	if len(files) != len(expected) {
		t.Errorf("%d recordings, %d expectations", len(files), len(expected))
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			file := recordings + name + ".jsonl"
			want.check(t, diagnosis(t, "", "-f", file, "--subject", want.Subject))
			_, text, _ := offline(t, "", "diagnose", "-f", file, "--subject", want.Subject)
			goldentest.Check(t, name+".txt", text)
			_, doc, _ := offline(t, "", "diagnose", "-f", file, "--subject", want.Subject, "-o", "yaml")
			goldentest.Check(t, name+".yaml", doc)
		})
	}
}

func (want expectation) check(t *testing.T, d v1.Diagnosis) {
	t.Helper()
	if d.Verdict != want.Verdict {
		t.Errorf("verdict %s, want %s", d.Verdict, want.Verdict)
	}
	failed := want.Verdict == v1.VerdictFailed
	if (d.FailedAt != nil) != failed || want.Within > 0 && *d.FailedAt > want.Within {
		t.Errorf("failed at %v, want within %v s", d.FailedAt, want.Within)
	}
	if waiting := want.Verdict == v1.VerdictWaiting; (d.Cause != nil) != (failed || waiting) || (failed || waiting) &&
		d.Hint == "" {
		t.Errorf("cause %+v, hint %q", d.Cause, d.Hint)
	}
	for _, word := range want.Cause {
		if d.Cause == nil || !strings.Contains(d.Cause.Message, word) || d.Cause.Container != want.Container {
			t.Errorf("the cause is %+v, want %q of container %q", d.Cause, word, want.Container)
		}
	}
	stages := want.Stages
	for _, m := range d.Timeline {
		if len(stages) > 0 && m.Stage == stages[0] {
			stages = stages[1:]
		}
	}
	if len(stages) > 0 {
		t.Errorf("the timeline has no %v in its place", stages)
	}
	for i, m := range d.Timeline {
		if i > 0 && (m.Stage == d.Timeline[i-1].Stage || m.Offset < d.Timeline[i-1].Offset ||
			m.At.Before(d.Timeline[i-1].At)) {
			t.Errorf("moment %d of the timeline is out of place", i)
		}
	}
}

// A dump does not continue: the cause at its end is reported, however short it lasted.
func TestDiagnoseOfADumpThatEndsEarly(t *testing.T) {
	file := recordings + "unsched-cpu.jsonl"
	records, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	beginning := strings.Join(strings.SplitAfter(string(records), "\n")[:3], "")
	if d := diagnosis(t, beginning, "-f", "-", "--subject", "api"); d.Cause == nil || d.Cause.Code != "Unschedulable" ||
		d.Cause.Tentative {
		t.Errorf("%+v", d.Cause)
	}
}
