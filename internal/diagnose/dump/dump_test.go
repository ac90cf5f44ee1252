package dump

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	podYAML   = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"
	podJSON   = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	otherJSON = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}`
	change    = `{"at":1795218636.5,"type":"ADDED","object":` + podJSON + `}`
)

// What is read of a text, and what is said of the rest of it.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		objects []string
		skipped []string
	}{
		"YAML": {podYAML, []string{"ADDED Pod a"}, nil},
		"YAML with CRLF": {
			strings.ReplaceAll(podYAML+"---\n"+podYAML, "\n", "\r\n"),
			[]string{"ADDED Pod a", "ADDED Pod a"},
			nil,
		},
		"documents": {
			"---\n" + podYAML + "---\n# nothing\n---\n" + podYAML + "...\n",
			[]string{"ADDED Pod a", "ADDED Pod a"},
			nil,
		},
		"documents without a --- ": {podYAML + "# and\n" + podYAML, []string{"ADDED Pod a", "ADDED Pod a"}, nil},
		"a sequence of YAML": {
			"- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n",
			[]string{"ADDED Pod a"},
			nil,
		},
		"a sequence, further in": {"-\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n-   apiVersion: v1\n" +
			"    kind: Pod\n    metadata: {name: b}\n", []string{"ADDED Pod a", "ADDED Pod b"}, nil},
		"YAML with quoted keys": {"\"apiVersion\": \"v1\"\n\"kind\": \"Pod\"\n\"metadata\":\n  \"name\": \"a\"\n" +
			"---\n'kind': Pod\n'apiVersion': v1\n'metadata': {name: b}\n", []string{"ADDED Pod a", "ADDED Pod b"}, nil},
		"JSON beside YAML": {
			podJSON + "\n---\n" + podYAML + "--- # more\n" + otherJSON,
			[]string{"ADDED Pod a", "ADDED Pod a", "ADDED Pod b"},
			nil,
		},
		"a list in JSON without its kind is whole": {
			`{"items":[` + podJSON + "," + otherJSON + "]}",
			[]string{"ADDED Pod a", "ADDED Pod b"},
			nil,
		},
		"an array": {
			"[" + podJSON + "," + otherJSON + "]",
			[]string{"ADDED Pod a", "ADDED Pod b"},
			nil,
		},
		"a list in a list": {
			`{"kind":"List","apiVersion":"v1","items":[` +
				`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"c"}}]}]}`,
			[]string{"ADDED Pod c"},
			nil,
		},
		"kinds that are not known": {
			`{"kind":"List","apiVersion":"v1","items":[{"kind":"Widget","apiVersion":"e.com/v1"},` + podJSON + `]}`,
			[]string{"ADDED Pod a"},
			nil,
		},
		"a change in YAML": {
			"type: DELETED\nobject:\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n",
			[]string{"DELETED Pod a"},
			nil,
		},
		"an event of the newer API": {
			`{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"note":"n"}`,
			[]string{"ADDED Event e"},
			nil,
		},
		"a bookmark, and an error": {`{"type":"BOOKMARK","object":{}}{"type":"ERROR","object":{"kind":"Status"}}` +
			change, []string{"ADDED Pod a"}, nil},
		"a refusal among objects": {
			podJSON + `{"kind":"Status","apiVersion":"v1","message":"events is forbidden"}`,
			[]string{"ADDED Pod a"},
			[]string{`f:1: the API server answered: "events is forbidden"`},
		},
		"what kubectl says besides": {
			"Warning: old\nError from server (Forbidden): no\n" + podYAML,
			[]string{"ADDED Pod a"},
			[]string{"f:2: Error from server (Forbidden): no"},
		},
		"logs between lists": {
			podJSON +
				"\n==== START logs for container c of pod p ====\n{\nError from server: x\n" +
				"==== END logs for container c of pod p ====\n" + otherJSON,
			[]string{"ADDED Pod a", "ADDED Pod b"},
			nil,
		},
		"a line that is broken": {
			podJSON + "\n{\"apiVersion\":\n" + otherJSON + "\n",
			[]string{"ADDED Pod a", "ADDED Pod b"},
			[]string{"f:3: the file is cut off: what begins on line 2 has no end; nothing of it was read"},
		},
		"another that is broken": {
			podJSON + "\n{\"apiVersion\"]\n" + otherJSON + "\n",
			[]string{"ADDED Pod a", "ADDED Pod b"},
			[]string{"f:2: invalid character ']' after object key"},
		},
		"a document that is broken": {
			podYAML + "---\nkind: [\n---\n" + podYAML,
			[]string{"ADDED Pod a", "ADDED Pod a"},
			[]string{"f:6: a value is missing, or a bracket is not closed"},
		},
		"an item that is broken": {
			`{"kind":"PodList","apiVersion":"v1","items":[null,{"metadata":{"name":{}}},` +
				podJSON + `]}`,
			[]string{"ADDED Pod a"},
			[]string{"f:1: item 1 of PodList: not a Kubernetes object: null (and 1 more)"},
		},
		"a list without its end": {
			podJSON + "\n---\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n",
			[]string{"ADDED Pod a"},
			[]string{`f:3: the file is cut off: "kind" is missing, which ends a list; nothing of it was read`},
		},
		"a list without its end, of which an item is whole": {
			"apiVersion: v1\nitems:\n- " + strings.ReplaceAll(podYAML, "\n", "\n  ") +
				"\n- apiVersion: v1\n  kind: Pod\n",
			[]string{"ADDED Pod a"},
			[]string{`f:1: the file is cut off: "kind" is missing, which ends a list; its first item was read`},
		},
		"a list that ends within a line": {
			"apiVersion: v1\nitems:\n- " + strings.ReplaceAll(podYAML, "\n", "\n  ") + "\n- apiVersion: v1\n  ki",
			[]string{"ADDED Pod a"},
			[]string{`f:9: the file is cut off: "kind" is missing, which ends a list; its first item was read`},
		},
		"an object that ends within a line": {
			podYAML + "---\napiVersion: v1\nkind: Pod\nmeta",
			[]string{"ADDED Pod a"},
			[]string{"f:8: the file is cut off: its last line has no end; nothing of it was read"},
		},
		"a list in JSON without its end": {
			"{\"apiVersion\":\"v1\",\n\"items\":[" + podJSON + ",\n" + otherJSON + ",\n" + podJSON[:20],
			[]string{"ADDED Pod a", "ADDED Pod b"},
			[]string{"f:4: the file is cut off: what begins on line 1 has no end; its first 2 items were read"},
		},
		"something else in it": {
			podJSON + `{"level":"info"}`,
			[]string{"ADDED Pod a"},
			[]string{`f:1: not a Kubernetes object: "kind" is required`},
		},
		"a kind that is not a text": {
			podJSON + `{"kind":7}`,
			[]string{"ADDED Pod a"},
			[]string{`f:1: "kind" must not be of type number`},
		},
		"a type that does not exist": {
			podJSON + `{"type":"GROWN","object":{}}`,
			[]string{"ADDED Pod a"},
			[]string{`f:1: type "GROWN": must be one of ADDED, MODIFIED, DELETED`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(c.text), "f")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.objects, named(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.skipped, got.Skipped); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// named are the objects of a dump, and what the watch said of them.
func named(c Contents) (names []string) {
	for _, r := range c.Records {
		o, _ := meta.Accessor(r.Object)
		names = append(names, fmt.Sprintf("%s %s %s", r.Type, reflect.TypeOf(r.Object).Elem().Name(), o.GetName()))
	}
	return names
}

// Everything that is known of an event is known of it with either API.
func TestEventOfTheNewerAPI(t *testing.T) {
	text := `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},
		"regarding":{"kind":"Pod","name":"a","fieldPath":"spec.containers{app}"},
		"note":"back-off","reason":"BackOff","type":"Warning","action":"Pulling",
		"reportingController":"kubelet","reportingInstance":"node-1",
		"deprecatedSource":{"component":"kubelet"},"deprecatedCount":7,
		"deprecatedFirstTimestamp":"2026-11-21T10:00:00Z","deprecatedLastTimestamp":"2026-11-21T10:05:00Z",
		"eventTime":"2026-11-21T10:00:00.500000Z",
		"series":{"count":9,"lastObservedTime":"2026-11-21T10:06:00.000000Z"},
		"related":{"kind":"Node","name":"n"}}`
	c, err := Read(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Records[0].Object.(*corev1.Event)
	if !ok || e.Message != "back-off" || e.InvolvedObject.FieldPath != "spec.containers{app}" || e.Series.Count != 9 {
		t.Fatalf("%+v", c.Records[0].Object)
	}
	v := reflect.ValueOf(*e)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "TypeMeta" && v.Field(i).IsZero() {
			t.Errorf("%s is empty", name)
		}
	}
}

// Only changes that all have a time are a history. It may be in several files.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1": strings.Replace(change, "36.5", "37.5", 1), "2": change} {
		write(t, filepath.Join(dir, name), text)
	}
	c, err := Open(dir)
	if err != nil || !c.Recorded || len(c.Records) != 2 || !c.Records[0].At.Before(c.Records[1].At) {
		t.Errorf("%v, %+v", err, c)
	}
	write(t, filepath.Join(dir, "3"), podYAML)
	if c, err = Open(dir); err != nil || c.Recorded || len(c.Records) != 3 {
		t.Errorf("%v, %+v", err, c)
	}
}

// A directory's problems are said together, and do not keep the rest from being read.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/pod.yaml": podYAML, "a/list.json": "{\"kind\":\"List\",", "a/empty.yaml": "",
		"b/table.txt": "NAME   READY\na      0/1\n",
		"b/1.log":     "hello\n", "b/2.log": "{\"level\":\"info\"}\n", "b/3.log": "[INFO] x\n",
		"b/4.log":     "\x00\x01\x02",
		".git/config": "x: [",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	c, err := Open(dir)
	if err != nil || len(c.Records) != 1 {
		t.Fatal(err, c)
	}
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	want := []string{
		in("a/empty.yaml") + ": empty",
		in("a/list.json") + ":1: the file is cut off: what begins on line 1 has no end; nothing of it was read",
		in("b/table.txt") + ": a table, as kubectl get prints it without -o yaml",
		in("link.yaml") + ": not a file: links are not followed",
		"4 files: no Kubernetes objects in YAML or JSON: " + in("b/1.log") + ", " + in("b/2.log") + ", " +
			in("b/3.log") +
			", …",
	}
	if diff := cmp.Diff(want, c.Skipped); diff != "" {
		t.Error(diff)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A dump was made at the newest time in it, or later. When an object is to be gone may
// lie ahead.
func TestNewest(t *testing.T) {
	text := `{"kind":"List","apiVersion":"v1","items":[
		{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","creationTimestamp":"2026-11-21T10:00:00Z",
		  "deletionTimestamp":"2026-11-21T12:00:00Z","deletionGracePeriodSeconds":7200},
		 "status":{"containerStatuses":[{"name":"c","state":{"running":{"startedAt":"2026-11-21T10:01:00Z"}}}]}},
		{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","creationTimestamp":"2026-11-21T10:00:30Z"},
		 "series":{"lastObservedTime":"2026-11-21T10:02:00.500000Z"}}]}`
	c, err := Read(strings.NewReader(text), "f")
	if want := time.Date(2026, 11, 21, 10, 2, 0, 5e8, time.UTC); err != nil || !c.Newest().Equal(want) {
		t.Errorf("%v, %s, want %s", err, c.Newest(), want)
	}
	text = strings.Replace(text, "7200", "7000", 1)
	if c, err = Read(strings.NewReader(text), "f"); err != nil ||
		!c.Newest().Equal(time.Date(2026, 11, 21, 10, 3, 20, 0, time.UTC)) {
		t.Errorf("%v, %s", err, c.Newest())
	}
	if c, err = Read(strings.NewReader(podYAML), "f"); err != nil || !c.Newest().IsZero() {
		t.Errorf("%v, %s", err, c.Newest())
	}
}
