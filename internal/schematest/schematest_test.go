package schematest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

const golden = "../terminal"

// What the golden files show is what the schemas say.
func TestGoldenFiles(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(golden, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var check func(testing.TB, []byte)
		switch name := filepath.Base(path); {
		case strings.HasSuffix(name, ".jsonl"), name == "jsonl":
			check = ValidateLines
		case strings.HasSuffix(name, ".json"), name == "json":
			check = Validate
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || check == nil || !strings.Contains(filepath.ToSlash(path), "/testdata/") {
			return err
		}
		doc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		checked++
		t.Run(strings.TrimPrefix(filepath.ToSlash(path), golden+"/"), func(t *testing.T) { check(t, doc) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 8 {
		t.Errorf("only %d golden files were found", checked)
	}
}

// The golden files do not show everything; a document with nothing empty does.
func TestFullDocuments(t *testing.T) {
	for kind, doc := range map[string]any{
		"Workspace":     &v1.Workspace{},
		"WorkspaceList": &v1.WorkspaceList{},
		"Deletion":      &v1.Deletion{},
		"Stop":          &v1.Stop{},
		"StateSummary":  &v1.StateSummary{},

		"WorkspaceReconciliation": &v1.WorkspaceReconciliation{},

		"Version":     &v1.Version{},
		"Error":       &v1.Error{},
		"Event":       &v1.Event{},
		"CopyResult":  &v1.CopyResult{},
		"Explanation": &v1.Explanation{},
		"PortForward": &v1.PortForward{},

		"SSHConfiguration": &v1.SSHConfiguration{},

		"BundleContent":        &v1.BundleContent{},
		"BundleDiff":           &v1.BundleDiff{},
		"BundleHistory":        &v1.BundleHistory{},
		"BundleInstallation":   &v1.BundleInstallation{},
		"BundleReconciliation": &v1.BundleReconciliation{},
		"BundleRemoval":        &v1.BundleRemoval{},
		"BundleState":          &v1.BundleState{},
		"BundleStateList":      &v1.BundleStateList{},

		"Job":      &v1.Job{},
		"JobStats": &v1.JobStats{},

		"Resolution":     &v1.Resolution{},
		"Blueprint":      &v1.Blueprint{},
		"BlueprintList":  &v1.BlueprintList{},
		"BlueprintCheck": &v1.BlueprintCheck{},

		"BlueprintConversion": &v1.BlueprintConversion{},
	} {
		t.Run(kind, func(t *testing.T) {
			fill(reflect.ValueOf(doc).Elem())
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			Validate(t, text)
		})
	}
}

// fill sets every field to something that is legal.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 11, 20, 1, 2, 3, 4, time.UTC)))
		return
	case v1.Stage:
		v.Set(reflect.ValueOf(v1.StagePulling))
		return
	case v1.Status:
		v.Set(reflect.ValueOf(v1.StatusPulling))
		return
	case v1.ContainerState:
		v.Set(reflect.ValueOf(v1.ContainerReady))
		return
	case v1.Form:
		v.Set(reflect.ValueOf(v1.FormRepo))
		return
	case v1.LimitSource:
		v.Set(reflect.ValueOf(v1.LimitOfBlueprint))
		return
	case v1.DesiredState:
		v.Set(reflect.ValueOf(v1.DesiredStopped))
		return
	case v1.ActualState:
		v.Set(reflect.ValueOf(v1.ActualStopping))
		return
	case v1.Left:
		v.Set(reflect.ValueOf(v1.LeftKept))
		return
	case v1.BundleAction:
		v.Set(reflect.ValueOf(v1.BundleInstalled))
		return
	case v1.BundleStateName:
		v.Set(reflect.ValueOf(v1.BundleHealthy))
		return
	case v1.CopyDirection:
		v.Set(reflect.ValueOf(v1.CopyFrom))
		return
	case v1.PortForwardState:
		v.Set(reflect.ValueOf(v1.PortLost))
		return
	case v1.SSHFileChange:
		v.Set(reflect.ValueOf(v1.SSHFileChanged))
		return
	case v1.StepState:
		v.Set(reflect.ValueOf(v1.StepEnded))
		return
	case v1.JobStatus:
		v.Set(reflect.ValueOf(v1.JobStatusCompleted))
		return
	case v1.JobState:
		v.Set(reflect.ValueOf(v1.JobFailed))
		return
	case v1.JobEventType:
		v.Set(reflect.ValueOf(v1.JobEventStatus))
		return
	case v1.JobSpanType:
		v.Set(reflect.ValueOf(v1.JobSpanStage))
		return
	case v1.JobGrouping:
		v.Set(reflect.ValueOf(v1.JobsByNode))
		return
	case v1.ScriptState:
		v.Set(reflect.ValueOf(v1.ScriptFailed))
		return
	case v1.Verdict:
		v.Set(reflect.ValueOf(v1.VerdictFailed))
		return
	case v1.Treatment:
		v.Set(reflect.ValueOf(v1.TreatmentSpared))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
		if meta := v.FieldByName("TypeMeta"); meta.IsValid() {
			meta.Set(reflect.ValueOf(v1.TypeMeta{APIVersion: v1.APIVersion, Kind: v.Type().Name()}))
		}
		if e, ok := reflect.TypeAssert[*v1.Error](v.Addr()); ok {
			e.Code = "FAILED"
		}
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), element)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64, reflect.Uint16:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// What is wrong is found.
func TestWrong(t *testing.T) {
	const (
		deletion = `"kind":"Deletion","id":"a","namespace":"b","objects":1,"seconds":1`
		event    = `{"apiVersion":"berth.dev/v1","kind":"Event","seq":1,"at":"2026-11-20T23:50:25Z",`
	)
	for name, doc := range map[string]string{
		"no document":           `{`,
		"two documents":         `{"kind":"Version"} {"kind":"Version"}`,
		"no kind":               `{"apiVersion":"berth.dev/v1"}`,
		"unknown kind":          `{"apiVersion":"berth.dev/v1","kind":"Boat"}`,
		"another version":       `{"apiVersion":"berth.dev/v2",` + deletion + `,"gone":true}`,
		"a field is missing":    `{"apiVersion":"berth.dev/v1",` + deletion + `}`,
		"a field is not known":  `{"apiVersion":"berth.dev/v1",` + deletion + `,"gone":true,"x":1}`,
		"not known, further in": event + `"step":{"name":"a","state":"begun","x":1}}`,
		"no such value":         event + `"step":{"name":"a","state":"x"}}`,
		"not a time":            `{"apiVersion":"berth.dev/v1","kind":"Event","seq":1,"at":"yesterday"}`,
	} {
		if validate([]byte(doc)) == nil {
			t.Errorf("%s: %s is taken for valid", name, doc)
		}
	}
}
