package job

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/fault"
)

func clusterFor(t *testing.T, now func() time.Time) ConfigMaps {
	t.Helper()
	return ConfigMaps{Client: fake.NewClientset(), Namespace: "team", Keep: Retention, Now: now}
}

func TestConfigMaps(t *testing.T) {
	now := at(0)
	c := clusterFor(t, func() time.Time { return now })
	r := Record{ID: "5f0c", WorkspaceName: "alice-1", Username: "alice", Status: Running, UpdatedAt: now}
	for range 2 { // made, and changed
		if err := c.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	object, err := c.Client.CoreV1().ConfigMaps("team").Get(t.Context(), "k8shell-job-5f0c", metav1.GetOptions{})
	if err != nil || object.Labels["k8shell.io/job-id"] != "5f0c" || object.Labels["k8shell.io/canonical-id"] != "alice-1" || object.Labels[LabelExpires] == "" {
		t.Fatalf("%+v, %v", object, err)
	}
	if got, err := c.Get(t.Context(), "5f0c"); err != nil || got.Username != "alice" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.Get(t.Context(), "other"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	if all, err := c.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	now = now.Add(Retention + 2*time.Second)
	if all, err := c.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("an expired record is shown: %+v, %v", all, err)
	}
	if _, err := c.Get(t.Context(), "5f0c"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an expired record is shown: %v", err)
	}
}

func TestConfigMapsStayWithinTheirSize(t *testing.T) {
	c := clusterFor(t, time.Now)
	r := Record{ID: "big", UpdatedAt: time.Now()}
	for i := range 2000 {
		r.Events = append(r.Events, Entry{ID: string(rune('a' + i%26)), Type: TypeEvent, ObjectName: "x", Message: strings.Repeat("y", 1000)})
	}
	if err := c.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	object, err := c.Client.CoreV1().ConfigMaps("team").Get(t.Context(), "k8shell-job-big", metav1.GetOptions{})
	if err != nil || len(object.Data[recordKey]) > MaxSize {
		t.Errorf("%d bytes, %v", len(object.Data[recordKey]), err)
	}
}
