package job

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

// damaged are records that cannot be read, and what is said of them.
func damaged() map[string]struct{ text, says string } {
	return map[string]struct{ text, says string }{
		"nothing":        {"", "not JSON"},
		"null":           {"null", "it is not about this job"},
		"nothing in it":  {"{}", "it is not about this job"},
		"cut off":        {`{"id":"x","eve`, "not JSON"},
		"a list":         {"[]", "not JSON of a record"},
		"another job":    {`{"id":"y"}`, "it is not about this job"},
		"huge":           {`{"id":"x","username":"` + strings.Repeat("a", maxRead) + `"}`, "larger than 1024 KiB"},
		"many entries":   {`{"id":"x","events":[` + strings.Repeat("{},", maxEntries) + `{}]}`, "more than 10000 entries"},
		"an odd time":    {`{"id":"x","updatedAt":"9999-12-31T23:59:59-14:00"}`, "out of range"},
		"no time":        {`{"id":"x","updatedAt":"yesterday"}`, "not JSON of a record"},
		"a nested thing": {strings.Repeat("[", 100_000), "not JSON"},
	}
}

// A record that cannot be read is an error that says how to get rid of it, hides no
// other, and does not keep the next run of the job from writing its own.
func TestDamagedRecords(t *testing.T) {
	for name, test := range damaged() {
		s := &Stores{cluster: configMaps(fake.NewClientset(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: "k8shell-job-x", Namespace: "team",
				Labels: map[string]string{"k8shell.io/job-id": "x", LabelExpires: "99999999999"},
			},
			Data: map[string]string{"record": test.text},
		}), "team", Retention, time.Now)}
		if err := put(t.Context(), s.cluster, Record{ID: "good"}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(t.Context(), "x")
		if fault.CodeOf(err) != fault.Failed || fault.ReasonOf(err) != ReasonUnreadable ||
			!strings.Contains(err.Error(), "record of job x cannot be read: ") ||
			!strings.Contains(err.Error(), test.says) ||
			!strings.Contains(fault.From(err).Hint, "kubectl delete configmap k8shell-job-x --namespace team") {
			t.Errorf("%s: %v", name, err)
		}
		if all, _, err := s.List(t.Context()); err != nil || len(all) != 1 || all[0].ID != "good" {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		r := &Recorder{stores: s, resumed: true}
		if record, err := r.resume(t.Context(), Record{ID: "x", Username: "alice"}, s.cluster); err != nil ||
			record.Username != "alice" {
			t.Errorf("%s: %+v, %v", name, record, err)
		}
	}
	if hint := howToDelete(&store.Bucket{}, "x"); hint != "delete it: nats kv del workspace-provision-jobs x" {
		t.Error(hint)
	}
}

// Whatever is read can be continued, printed and written again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"x","events":[{"message":"a (x3 over 2s)","type":"event"}]}`))
	f.Add([]byte(`{"id":"x","events":[{"id":"9223372036854775807","message":"a (x9223372036854775807)","type":"status","objectName":"result","status":"Y"}]}`))
	f.Add([]byte(`{"id":"x","status":"completed","finishedAt":"9999-12-31T23:59:59-14:00","updatedAt":"0000-01-01T00:00:00+14:00"}`))
	for _, d := range damaged() {
		if len(d.text) < 1000 {
			f.Add([]byte(d.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode("x", text)
		if err != nil {
			if fault.ReasonOf(err) != ReasonUnreadable {
				t.Errorf("%v", err)
			}
			return
		}
		r = r.After(r).add(v1.JobEvent{Type: v1.JobEventKubernetes, Message: "more"}, oneMore)
		if _, err := json.Marshal(r.Document(start)); err != nil {
			t.Errorf("it cannot be printed: %v", err)
		}
		_ = r.Err(start)
		if _, err := r.Fit(1000).Encode(); err != nil {
			t.Error(err)
		}
	})
}

// A record that is just within the bounds is read.
func TestLargestRecord(t *testing.T) {
	for name, text := range map[string]string{
		"entries": `{"id":"x","events":[` + strings.Repeat("{},", 9_999) + `{}]}`,
		"bytes":   `{"id":"x","username":"` + strings.Repeat("a", 1<<20-len(`{"id":"x","username":""}`)) + `"}`,
	} {
		if r, err := Decode("x", []byte(text)); err != nil || r.ID != "x" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
