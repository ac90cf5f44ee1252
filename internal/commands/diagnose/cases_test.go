package diagnose_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/berthdev/berth/api/v1"
)

// A reading is what a right reading of a dump says. The expressions ignore case.
type reading struct {
	File    string   `json:"file"` // NAME.yaml if empty
	Subject string   `json:"subject"`
	Args    []string `json:"args"`
	Now     string   `json:"now"` // casesNow if empty

	Verdict []string `json:"verdict"` // those that are acceptable
	Stage   []string `json:"stage"`

	Cause    []string `json:"cause"`    // all match "CODE: MESSAGE" of the cause; one begins with ^CODE
	CauseNot []string `json:"causenot"` // none does
	NoCause  bool     `json:"nocause"`
	Hint     []string `json:"hint"`    // all match one of the hints
	Says     []string `json:"says"`    // all match message, cause, hint, or a warning
	Not      []string `json:"not"`     // none matches message, cause, or hint
	ErrHint  []string `json:"errhint"` // all match the error

	Container string   `json:"container"`
	Log       []string `json:"log"` // its last lines
	Ignored   string   `json:"ignored"`
	WarnCount int      `json:"warncount"` // the highest of a warning

	// For the reader: what the dump holds, whether it may heal, and why it is to
	// be read so.
	Shows string `json:"shows"`
	Kind  string `json:"kind"`
	Why   string `json:"why"`
}

const casesNow = "2026-11-21T11:00:00Z"

// Each directory holds the dumps of a family of causes, and what is to be said of
// them.
func TestDiagnoseCases(t *testing.T) {
	families, err := filepath.Glob("testdata/cases/*/expected.yaml")
	if err != nil || len(families) == 0 {
		t.Fatal("no cases", err)
	}
	for _, family := range families {
		raw, err := os.ReadFile(family)
		if err != nil {
			t.Fatal(err)
		}
		var cases map[string]reading
		if err := yaml.UnmarshalStrict(raw, &cases); err != nil {
			t.Fatalf("%s: %v", family, err)
		}
		for name, want := range cases {
			t.Run(filepath.Base(filepath.Dir(family))+"/"+name,
				func(t *testing.T) { want.check(t, filepath.Dir(family), name) })
		}
	}
}

func (want reading) check(t *testing.T, dir, name string) {
	if want.File == "" {
		want.File = name + ".yaml"
	}
	if want.Now == "" {
		want.Now = casesNow
	}
	for form, path := range forms(t, filepath.Join(dir, want.File)) {
		args := append([]string{"diagnose", "-f", path, "--subject", want.Subject, "--now", want.Now, "-o", "json"},
			want.Args...)
		_, stdout, stderr := offline(t, "", args...)
		var d v1.Diagnosis
		_ = json.Unmarshal([]byte(stdout), &d) // what is no diagnosis is an error
		if wrong := want.wrong(d, stdout+stderr); len(wrong) > 0 {
			t.Errorf("as %s: %s\n%s", form, strings.Join(wrong, "; "), stdout+stderr)
		}
	}
}

// forms are the files in which a dump is read: a dump in YAML as JSON, too.
func forms(t *testing.T, path string) map[string]string {
	if !strings.HasSuffix(path, ".yaml") {
		return map[string]string{"it is": path}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.YAMLToJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	asJSON := filepath.Join(t.TempDir(), "dump.json")
	if err := os.WriteFile(asJSON, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"YAML": path, "JSON": asJSON}
}

// wrong compares, and lists all that differs.
func (want reading) wrong(d v1.Diagnosis, text string) (wrong []string) {
	verdict := string(d.Verdict)
	if d.Kind != "Diagnosis" {
		verdict = "error"
	}
	if !slices.Contains(want.Verdict, verdict) {
		wrong = append(wrong, fmt.Sprintf("the verdict is %s, not %v", verdict, want.Verdict))
	}
	if verdict == "error" {
		return append(wrong, match("the error", text, want.ErrHint, nil)...)
	}
	if len(want.Stage) > 0 && !slices.Contains(want.Stage, string(d.Stage)) {
		wrong = append(wrong, fmt.Sprintf("the stage is %s, not %v", d.Stage, want.Stage))
	}
	if want.NoCause && d.Cause != nil {
		wrong = append(wrong, "it has a cause")
	}
	c := v1.Cause{}
	if d.Cause != nil {
		c = *d.Cause
	}
	if want.Container != "" && c.Container != want.Container {
		wrong = append(wrong, fmt.Sprintf("the container is %q, not %q", c.Container, want.Container))
	}
	if len(want.Log) > 0 && (d.Logs == nil || !slices.Equal(d.Logs.Lines, want.Log)) {
		wrong = append(wrong, fmt.Sprintf("the log is %+v, not %q", d.Logs, want.Log))
	}
	if want.Ignored != "" {
		wrong = append(wrong, match("what is ignored", strings.Join(d.Ignored, " "), []string{want.Ignored}, nil)...)
	}
	hint, cause := d.Hint+" "+c.Hint, c.Code+": "+c.Message
	said := d.Message + " | " + cause + " | " + hint
	warnings, most := "", 0
	for _, w := range d.Warnings {
		warnings += " | " + w.Reason + ": " + w.Message
		most = max(most, w.Count)
	}
	if want.WarnCount != 0 && most != want.WarnCount {
		wrong = append(wrong, fmt.Sprintf("a warning counts %d, not %d", most, want.WarnCount))
	}
	if len(want.Cause) > 0 && !slices.ContainsFunc(want.Cause, startsWithCode) {
		wrong = append(wrong, "what is expected does not say which cause: it is ^"+c.Code)
	}
	return slices.Concat(wrong, match("the cause", cause, want.Cause, want.CauseNot),
		match("the hint", hint, want.Hint, nil),
		match("what is said", said, nil, want.Not), match("what is said with its warnings", said+warnings, want.Says,
			nil))
}

// startsWithCode is true for an expression of the code of a cause, or of several: ^CODE, ^(CODE|CODE).
func startsWithCode(expr string) bool { return regexp.MustCompile(`^\^\(?[A-Z]`).MatchString(expr) }

// match lists the expressions that a text lacks, and those that it must not match.
func match(what, text string, lacks, matches []string) (wrong []string) {
	for _, expr := range lacks {
		if !regexp.MustCompile("(?is)" + expr).MatchString(text) {
			wrong = append(wrong, what+" lacks "+expr)
		}
	}
	for _, expr := range matches {
		if regexp.MustCompile("(?is)" + expr).MatchString(text) {
			wrong = append(wrong, what+" matches "+expr)
		}
	}
	return wrong
}
