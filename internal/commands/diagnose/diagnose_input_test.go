package diagnose_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/schematest"
)

// list is the List that kubectl would have printed at the end of a recording.
func list(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(recordings + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]json.RawMessage{}
	for line := range bytes.Lines(raw) {
		var record struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		var object struct {
			Metadata struct {
				UID string `json:"uid"`
			} `json:"metadata"`
		}
		if json.Unmarshal(line, &record) != nil || json.Unmarshal(record.Object, &object) != nil {
			t.Fatal("the recording is broken")
		}
		if objects[object.Metadata.UID] = record.Object; record.Type == "DELETED" {
			delete(objects, object.Metadata.UID)
		}
	}
	items := []json.RawMessage{[]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)}
	for _, o := range objects {
		items = append(items, o)
	}
	doc, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func TestDiagnoseList(t *testing.T) {
	for name, want := range map[string]struct {
		subject string
		verdict v1.Verdict
		code    string
	}{
		"pull-not-found":  {"pod/api", v1.VerdictFailed, "ImageNotFound"},
		"oomkilled":       {"pod/api", v1.VerdictFailed, "OOMKilled"},
		"pvc-unbound":     {"pod/db", v1.VerdictFailed, "VolumeUnbound"},
		"quota-exceeded":  {"deployment/api", v1.VerdictWaiting, "QuotaExceeded"},
		"job-ok":          {"job/backup", v1.VerdictStopped, ""},
		"rollout":         {"deployment/web", v1.VerdictRunning, ""},
		"crashloop-exit1": {"pod/api", v1.VerdictFailed, "CrashLoop"},
	} {
		d := diagnosis(t, list(t, name), "-f", "-", "--now", "2026-11-21T00:00:00Z")
		if d.Subject != want.subject || d.Verdict != want.verdict || (d.Cause == nil) != (want.code == "") ||
			d.Cause != nil && d.Cause.Code != want.code {
			t.Errorf("%s: %s is %s because of %+v, want %+v", name, d.Subject, d.Verdict, d.Cause, want)
		}
		if len(d.Timeline) == 0 || d.Timeline[len(d.Timeline)-1].Stage != d.Stage ||
			(d.FailedAt != nil) != (d.Verdict == v1.VerdictFailed) {
			t.Errorf("%s: failed at %v, %+v", name, d.FailedAt, d.Timeline)
		}
	}
}

// What kubectl prints for one object, and several documents in a row.
func TestDiagnoseOtherDocuments(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"api","namespace":"shop"},"status":{"phase":"Pending"}}`
	for name, text := range map[string]string{
		"one object":    pod,
		"two documents": pod + "\n" + `{"apiVersion":"v1","kind":"List","items":[]}`,
		"list of a kind": `{"apiVersion":"v1","kind":"PodList","items":[` +
			`{"metadata":{"name":"api","namespace":"shop"}}]}`,
	} {
		if d := diagnosis(t, text, "-f", "-"); d.Subject != "pod/api" || d.Namespace != "shop" ||
			d.Verdict != v1.VerdictWaiting {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestDiagnoseSubject(t *testing.T) {
	rollout := recordings + "rollout.jsonl"
	for wanted, want := range map[string]string{
		"":                     "deployment/web",
		"web":                  "deployment/web", // the very name before the beginning of one
		"deploy/web":           "deployment/web",
		"Deployments/w":        "deployment/web",
		"web-6fc94fcd95-9":     "pod/web-6fc94fcd95-9p4zp",
		"pod/web-f664c67b4-w7": "pod/web-f664c67b4-w7d2m",
		"rs/web-6fc":           "replicaset/web-6fc94fcd95",
	} {
		if d := diagnosis(t, "", "-f", rollout, "--subject", wanted); d.Subject != want {
			t.Errorf("--subject %q is %s, want %s", wanted, d.Subject, want)
		}
	}
}

// A recording can be looked at in its middle, and beyond its end.
func TestDiagnoseNow(t *testing.T) {
	slow := recordings + "crashloop-exit1.jsonl"
	d := diagnosis(t, "", "-f", slow, "--now", "2026-11-20T23:50:20Z")
	if d.Verdict != v1.VerdictWaiting || d.FailedAt != nil ||
		!d.At.Equal(time.Date(2026, 11, 20, 23, 50, 20, 0, time.UTC)) {
		t.Errorf("%+v", d)
	}
	if d = diagnosis(t, "", "-f", slow, "--now", "2026-11-21T23:50:20Z"); d.Verdict != v1.VerdictFailed {
		t.Errorf("%+v", d)
	}
}

func TestDiagnoseExitCode(t *testing.T) {
	for name, want := range map[string]int{"pull-not-found": 3, "readiness-fail": 0, "ok-init-ready": 0} {
		if status, stdout, _ := offline(t, "", "diagnose", "-f", recordings+name+".jsonl",
			"--exit-code"); status != want ||
			stdout == "" {
			t.Errorf("%s: exit status %d, want %d\n%s", name, status, want, stdout)
		}
	}
}

func TestDiagnoseFormats(t *testing.T) {
	file := recordings + "pull-not-found.jsonl"
	for output, want := range map[string]string{
		"name": "pod/api\n", "jsonpath={.cause.code}": "ImageNotFound", "go-template={{.verdict}}": "failed",
	} {
		if _, stdout, _ := offline(t, "", "diagnose", "-f", file, "-o", output); stdout != want {
			t.Errorf("-o %s prints %q, want %q", output, stdout, want)
		}
	}
}

func TestDiagnoseRefuses(t *testing.T) {
	line := `{"at":1795218636.7,"type":"ADDED",` +
		`"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"1"}}}`
	graceful := recordings + "graceful-delete.jsonl"
	dump := []string{"-f", "-"}
	for name, c := range map[string]struct {
		stdin string
		args  []string
		says  []string
	}{
		"nothing":      {"", nil, []string{"--filename"}},
		"empty":        {" \n", dump, []string{"standard input: empty"}},
		"no such file": {"", []string{"-f", "nowhere.json"}, []string{"nowhere.json"}},
		"a directory":  {"", []string{"-f", t.TempDir()}, []string{"the directory is empty"}},
		"events alone": {
			"apiVersion: v1\nkind: List\nitems:\n" +
				"- {apiVersion: v1, kind: Event, metadata: {name: a.1, namespace: x}, type: Warning, " +
				"reason: FailedMount, " +
				"message: no such share, involvedObject: {kind: Pod, name: api, namespace: x}}\n" +
				"- {apiVersion: v1, kind: Event, metadata: {name: a.2, namespace: x}, type: Normal, reason: " +
				"Scheduled, message: done, involvedObject: {kind: Pod, name: api, namespace: x}}\n" +
				"- {apiVersion: v1, kind: Event, metadata: {name: b.1, namespace: x}, type: Warning, reason: Failed, " +
				"message: no such image, involvedObject: {kind: Pod, name: b, namespace: x}}\n" +
				"- {apiVersion: v1, kind: Event, metadata: {name: b.2, namespace: x}, type: Warning, reason: Failed, " +
				"message: 'Error: ErrImagePull', involvedObject: {kind: Pod, name: b, namespace: x}}\n",
			dump,
			[]string{
				"has events alone", "pod/api: FailedMount: no such share", "pod/b: Failed: no such image",
				"add the objects",
			},
		},
		"YAML without items": {"apiVersion: v1\nkind: List\n", dump, []string{"neither a pod nor a workload"}},
		"broken YAML":        {"apiVersion: v1\nkind: [\n", dump, []string{"standard input:2", "not closed"}},
		"broken line":        {line[:40] + "\n", dump, []string{"standard input:1", "cut off"}},
		"broken list":        {"{\n\"kind\": \"List\",\n\"items\": [,]\n}", dump, []string{"standard input:3"}},
		"list cut off": {
			"{\n\"kind\": \"List\",\n\"items\": [\n", dump,
			[]string{"standard input:3", "line 1 has no end"},
		},
		"no kind": {`{"type":"ADDED","object":{}}`, dump, []string{"standard input:1", `"kind"`}},
		"no time at all": {
			strings.Replace(line, "1795218636.7", "1e300", 1), dump,
			[]string{"standard input:1", `"at"`},
		},
		"unknown type": {strings.Replace(line, "ADDED", "GROWN", 1), dump, []string{"GROWN"}},
		"no object":    {`{"at":1,"type":"ADDED"}`, dump, []string{"standard input:1", "object"}},
		"wrong type": {
			strings.Replace(line, `"name":"a"`, `"name":{}`, 1), dump,
			[]string{"standard input:1", "name"},
		},
		"a number": {"42", dump, []string{"no Kubernetes objects"}},
		"null":     {"null", dump, []string{"no Kubernetes objects"}},
		"nothing known": {
			`{"kind":"List","apiVersion":"v1","items":[{"kind":"Widget","apiVersion":"e.com/v1"}]}`,
			dump,
			[]string{"neither a pod nor a workload"},
		},
		"no record": {
			`{"at":1,"type":"ADDED","object":{"kind":"Widget","apiVersion":"e.com/v1"}}`, dump,
			[]string{"neither a pod nor a workload"},
		},
		"too large":           {strings.Repeat(" ", 64<<20) + "x", dump, []string{"larger than 64 MiB"}},
		"ambiguous":           {"", []string{"-f", graceful}, []string{"pod/deaf", "pod/polite", "pod/prestop"}},
		"ambiguous beginning": {"", []string{"-f", graceful, "--subject", "p"}, []string{"pod/polite", "pod/prestop"}},
		"not there":           {"", []string{"-f", graceful, "--subject", "pod/x"}, []string{"no pod/x", "pod/deaf"}},
		"wrong kind": {
			"",
			[]string{"-f", graceful, "--subject", "cronjob/x"},
			[]string{"cronjob/x", "deployment/NAME"},
		},
		"too early": {
			"",
			[]string{"-f", graceful, "--now", "2020-01-01T00:00:00Z"},
			[]string{"before the recording"},
		},
		"no date":       {"", []string{"-f", graceful, "--now", "yesterday"}, []string{"yesterday"}},
		"both":          {"", []string{"-f", graceful, "polite"}, []string{"--subject"}},
		"subject alone": {"", []string{"--subject", "polite", "x"}, []string{"--filename"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, _ := offline(t, c.stdin, append([]string{"diagnose", "-o", "json"}, c.args...)...)
			if status != 2 {
				t.Fatalf("exit status %d\n%s", status, stdout)
			}
			schematest.Validate(t, []byte(stdout))
			for _, words := range c.says {
				if !strings.Contains(stdout, strings.ReplaceAll(words, `"`, `\"`)) {
					t.Errorf("%q is not in %s", words, stdout)
				}
			}
		})
	}
}

// A name that is in two namespaces is chosen by --namespace.
func TestDiagnoseNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.json")
	text := `{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"api","namespace":"a","uid":"1"}},
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"api","namespace":"b","uid":"2"}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := offline(t, "", "diagnose", "-f", file, "--subject", "api"); status != 2 ||
		!strings.Contains(stderr, "--namespace") {
		t.Errorf("exit status %d, %s", status, stderr)
	}
	if d := diagnosis(t, "", "-f", file, "--subject", "api", "--namespace", "b"); d.Namespace != "b" {
		t.Errorf("%+v", d)
	}
}
