package desired

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

const id = "alice-59936c3"

func workspacePod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: id, Namespace: "dev", UID: "old", ResourceVersion: "1",
		Labels: map[string]string{kube.LabelCanonicalID: id, kube.LabelJobID: "older"},
	}}
}

// What stands is a workspace that is stopped: a release of somebody else may have a name like
// one, and what is not all installed is not adopted.
func TestStands(t *testing.T) {
	u, err := userstring.Parse("alice~plain")
	if err != nil {
		t.Fatal(err)
	}
	record := func(text string, status helm.Status) *helm.Release {
		return &helm.Release{
			Info: &helm.Info{Status: status},
			Manifest: "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: {" +
				kube.AnnotationUserString + ": " + base64.StdEncoding.EncodeToString([]byte(text)) + "}}\n",
		}
	}
	for name, test := range map[string]struct {
		found inventory.Found
		want  bool
	}{
		"a stopped workspace":   {inventory.Found{Record: record(u.String(), helm.StatusDeployed)}, true},
		"nothing":               {inventory.Found{}, false},
		"the record of another": {inventory.Found{Record: record("bob~plain", helm.StatusDeployed)}, false},
		"a release of a chart": {inventory.Found{Record: &helm.Release{
			Info:     &helm.Info{Status: helm.StatusDeployed},
			Manifest: "---\nkind: Service\n",
		}}, false},
		"one that is not all in": {inventory.Found{Record: record(u.String(), helm.StatusPendingInstall)}, false},
		"one that has a pod": {
			inventory.Found{Record: record(u.String(), helm.StatusDeployed), Pod: workspacePod()},
			false,
		},
		"a user string that lies": {inventory.Found{Record: record("a b c", helm.StatusDeployed)}, false},
	} {
		if got := stands(u.ID(), test.found); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A workspace was created when it was installed, whatever its pod says; without a record of that
// when its pod was, and otherwise now.
func TestAdoptedSince(t *testing.T) {
	now := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
	pod := workspacePod()
	pod.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
	record := &helm.Release{
		Info:   &helm.Info{FirstDeployed: helmtime.Time{Time: now.Add(-24 * time.Hour)}},
		Labels: map[string]string{release.LabelGuarded: "true"},
	}
	unguarded := &helm.Release{Info: record.Info}
	for name, test := range map[string]struct {
		found inventory.Found
		want  time.Time
	}{
		"a pod and a record": {
			inventory.Found{Pod: pod, Record: record},
			now.Add(-24 * time.Hour),
		},
		"a record that anybody may have made older": {
			inventory.Found{Pod: pod, Record: unguarded},
			now.Add(-time.Hour),
		},
		"a pod": {inventory.Found{Pod: pod}, now.Add(-time.Hour)},
		"a record that the API server has created": {
			inventory.Found{Record: stored(t, now.Add(-2*time.Hour))},
			now.Add(-2 * time.Hour),
		},
		"a pod after its record": {
			inventory.Found{Pod: pod, Record: stored(t, now.Add(-2*time.Hour))},
			now.Add(-2 * time.Hour),
		},
		"neither": {inventory.Found{}, now},
	} {
		if got := adopted(id, test.found, now).CreatedAt; !got.Equal(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// stored is a record as it is read, which nobody vouches for and whose Secret was created then.
func stored(t *testing.T, at time.Time) *helm.Release {
	t.Helper()
	secrets := fake.NewClientset().CoreV1().Secrets("dev")
	records := release.Records{Secrets: secrets, Namespace: "dev"}
	old := &helm.Release{
		Name: "a", Version: 1,
		Info: &helm.Info{Status: helm.StatusDeployed, FirstDeployed: helmtime.Time{Time: at.Add(-time.Hour)}},
	}
	if err := records.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	secret, err := secrets.Get(t.Context(), release.Key("a", 1), metav1.GetOptions{})
	if err == nil {
		secret.CreationTimestamp = metav1.NewTime(at)
		_, err = secrets.Update(t.Context(), secret, metav1.UpdateOptions{})
	}
	record, readErr := records.Latest(t.Context(), "a")
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	return record
}
