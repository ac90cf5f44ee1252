package release

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes/fake"
)

// written are the records of revisions, each a status, perhaps of a chart: "failed:b". One that
// is "broken" is labelled as deployed, and cannot be read.
func written(t *testing.T, revisions ...string) (records Records, last *helm.Release) {
	t.Helper()
	client := clientset.NewClientset()
	records = Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns"}
	for i, words := range revisions {
		status, chartName, _ := strings.Cut(words, ":")
		last = NewRevision("a", "ns", Content{Chart: Plain(chartName, "1.0.0")}, nil, time.Unix(1795218685, 0))
		last.Version, last.Info.Status = i+1, helm.Status(strings.ReplaceAll(status, "broken", "deployed"))
		secret, err := records.encode(last, createdAt)
		if err != nil {
			t.Fatal(err)
		}
		if secret.Namespace = "ns"; status == "broken" {
			secret.Data = nil
		}
		if err := client.Tracker().Add(secret); err != nil {
			t.Fatal(err)
		}
	}
	return records, last
}

// labelled are the revisions that there are, as Helm finds them: "1 deployed".
func labelled(t *testing.T, records Records) string {
	t.Helper()
	list, err := records.Secrets.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range list.Items {
		all = append(all, fmt.Sprintf("%02d %s", version(&s), s.Labels["status"]))
	}
	slices.Sort(all)
	return strings.ReplaceAll(", "+strings.Join(all, ", "), ", 0", ", ")[2:]
}

// What is left when a revision is deployed: the newest of those before it, superseded if they were
// deployed. One that cannot be read stays as it is.
func TestWhatSuccessLeaves(t *testing.T) {
	for _, test := range []struct {
		before []string
		keep   int
		want   string
	}{
		{nil, 3, "1 deployed"},
		{[]string{"deployed"}, 3, "1 superseded, 2 deployed"},
		{[]string{"deployed"}, 2, "1 superseded, 2 deployed"},
		{[]string{"deployed"}, 1, "2 deployed"},
		{[]string{"deployed"}, 0, "2 deployed"},
		{[]string{"superseded", "deployed", "failed"}, 3, "2 superseded, 3 failed, 4 deployed"},
		{[]string{"superseded", "deployed", "failed"}, 2, "3 failed, 4 deployed"},
		{
			[]string{"deployed", "deployed", "pending-upgrade"},
			9,
			"1 superseded, 2 superseded, 3 pending-upgrade, 4 deployed",
		},
		{[]string{"broken", "deployed"}, 9, "1 deployed, 2 superseded, 3 deployed"},
		{[]string{"broken", "deployed"}, 2, "2 superseded, 3 deployed"},
		{[]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "deployed"}, 3, "9 9, 10 superseded, 11 deployed"},
	} {
		records, revision := written(t, append(test.before, "pending-upgrade")...)
		if err := records.Succeeded(t.Context(), revision, test.keep, time.Now()); err != nil {
			t.Errorf("%q, %d are kept: %v", test.before, test.keep, err)
		}
		if got := labelled(t, records); got != test.want {
			t.Errorf("%q, %d are kept: left is %s, want %s", test.before, test.keep, got, test.want)
		}
	}
}

// What is left when a revision has failed: whatever is deployed, and the newest of the others; but
// of attempts that are alike the last one alone.
func TestWhatFailureLeaves(t *testing.T) {
	for _, test := range []struct {
		before []string
		keep   int
		want   string
	}{
		{nil, 3, "1 failed"},
		{[]string{"deployed"}, 1, "1 deployed, 2 failed"},
		{[]string{"deployed", "failed:same"}, 9, "1 deployed, 3 failed"},
		{[]string{"deployed", "pending-upgrade:same"}, 9, "1 deployed, 3 failed"},
		{[]string{"pending-install:same"}, 9, "2 failed"},
		{[]string{"superseded:same", "deployed:same"}, 9, "1 superseded, 2 deployed, 3 failed"},
		{[]string{"uninstalling:same", "pending-rollback:same"}, 9, "1 uninstalling, 2 pending-rollback, 3 failed"},
		{[]string{"deployed", "failed:b", "failed:c"}, 4, "1 deployed, 2 failed, 3 failed, 4 failed"},
		{[]string{"deployed", "failed:b", "failed:c"}, 3, "1 deployed, 3 failed, 4 failed"},
		{[]string{"deployed", "failed:b", "failed:c"}, 2, "1 deployed, 4 failed"},
		{[]string{"failed:b", "failed:c"}, 2, "2 failed, 3 failed"},
		{[]string{"failed:b", "deployed", "failed:same", "failed:c"}, 4, "1 failed, 2 deployed, 4 failed, 5 failed"},
		{[]string{"broken", "failed:b"}, 3, "1 deployed, 2 failed, 3 failed"},
	} {
		records, revision := written(t, append(test.before, "pending-upgrade:same")...)
		alike := func(r *helm.Release) bool { return r.Chart.Name() == "same" }
		if err := records.Failed(t.Context(), revision, "no", test.keep, alike); err != nil {
			t.Errorf("%q, %d are kept: %v", test.before, test.keep, err)
		}
		if got := labelled(t, records); got != test.want {
			t.Errorf("%q, %d are kept: left is %s, want %s", test.before, test.keep, got, test.want)
		}
	}
}

// A failed attempt that cannot be read is not known to be alike, and stays.
func TestFailureThatCannotBeRead(t *testing.T) {
	records, revision := written(t, "broken", "pending-upgrade")
	secret, err := records.Secrets.Get(t.Context(), Key("a", 1), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.Labels["status"] = "failed"
	if _, err := records.Secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := records.Failed(t.Context(), revision, "no", 9, func(*helm.Release) bool { return true }); err != nil {
		t.Error(err)
	}
	if got := labelled(t, records); got != "1 failed, 2 failed" {
		t.Error(got)
	}
}

// A record that is superseded keeps the labels that are not Helm's.
func TestLabelsOfASuperseded(t *testing.T) {
	records, revision := written(t, "deployed", "pending-upgrade")
	secret, err := records.Secrets.Get(t.Context(), Key("a", 1), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.Labels["team"] = "red"
	if _, err := records.Secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := records.Succeeded(t.Context(), revision, 9, time.Now()); err != nil {
		t.Fatal(err)
	}
	if secret, err = records.Secrets.Get(t.Context(), Key("a", 1), metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"name": "a", "owner": "helm", "status": "superseded", "version": "1",
		"modifiedAt": "1795218685", "team": "red",
	}
	if !maps.Equal(secret.Labels, want) {
		t.Errorf("%v, want %v", secret.Labels, want)
	}
}

// A revision is the first of a release, or the next of one that stays as old as it is.
func TestNewRevision(t *testing.T) {
	first := NewRevision("a", "ns", Content{}, nil, time.Unix(10, 0))
	next := NewRevision("a", "ns", Content{}, first, time.Unix(20, 0))
	for _, test := range []struct {
		revision        *helm.Release
		version         int
		installed, made int64
		status          helm.Status
	}{
		{first, 1, 10, 10, helm.StatusPendingInstall},
		{next, 2, 10, 20, helm.StatusPendingUpgrade},
	} {
		info := test.revision.Info
		if test.revision.Version != test.version || info.FirstDeployed.Unix() != test.installed ||
			info.LastDeployed.Unix() != test.made || info.Status != test.status {
			t.Errorf("%d: %+v", test.revision.Version, info)
		}
	}
}
