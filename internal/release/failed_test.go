package release

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientset "k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
)

// attempt records one more revision, of a chart, that failed.
func attempt(t *testing.T, records Records, chartName string, size int) {
	t.Helper()
	before, err := records.Latest(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	content := bundleOf(t, size)
	content.Chart = &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: chartName, Version: "1.0.0"}}
	revision := NewRevision("a", "ns", content, before, time.Now())
	if err := records.Create(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	alike := func(r *helm.Release) bool { return r.Chart.Name() == chartName }
	if err := records.Failed(t.Context(), revision, "no", 3, alike); err != nil {
		t.Fatal(err)
	}
}

func history(t *testing.T, records Records) (all []string) {
	t.Helper()
	found, err := driver.NewSecrets(records.Secrets).Query(map[string]string{"owner": "helm", "name": "a"})
	if err != nil {
		t.Fatal(err)
	}
	releaseutil.SortByRevision(found)
	for _, r := range found {
		all = append(all, fmt.Sprintf("%d %s %s", r.Version, r.Info.Status, r.Chart.Name()))
	}
	return all
}

// However often it fails, what is deployed stays, one attempt of each kind, and no more
// records than are to be kept.
func TestFailed(t *testing.T) {
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	upgrade(t, records, bundleOf(t, 100), 3)
	upgrade(t, records, bundleOf(t, 4_000), 3)
	for range 60 {
		attempt(t, records, "b", 100)
	}
	want := []string{"1 superseded plain", "2 deployed plain", "62 failed b"}
	if got := history(t, records); !slices.Equal(got, want) {
		t.Errorf("of one: %q", got)
	}
	for _, name := range []string{"c", "d", "e"} {
		attempt(t, records, name, 4_000)
	}
	want = []string{"2 deployed plain", "64 failed d", "65 failed e"}
	if got := history(t, records); !slices.Equal(got, want) {
		t.Errorf("of several: %q", got)
	}
	if names := secretNames(t, client); len(names) != 9 { // each of the three has two chunks
		t.Errorf("%q", names)
	}
	if installed, err := records.Installed(t.Context(), "a"); err != nil || installed.Version != 2 {
		t.Errorf("%+v, %v", installed, err)
	}
	upgrade(t, records, bundleOf(t, 100), 3)
	want = []string{"64 failed d", "65 failed e", "66 deployed plain"}
	if got := history(t, records); !slices.Equal(got, want) {
		t.Errorf("then: %q", got)
	}
}

// A revision that cannot be recorded as deployed supersedes nothing.
func TestSuccessThatIsNotWritten(t *testing.T) {
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	before := upgrade(t, records, bundleOf(t, 100), 3)
	revision := NewRevision("a", "ns", bundleOf(t, 100), before, time.Now())
	if err := records.Create(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	client.PrependReactor("update", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		mine := a.(clienttesting.UpdateAction).GetObject().(*corev1.Secret).Labels["version"] == "2"
		return mine, nil, apierrors.NewServiceUnavailable("busy")
	})
	if err := records.Succeeded(t.Context(), revision, 3, time.Now()); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if got := history(t, records); len(got) != 2 || got[0] != "1 deployed plain" {
		t.Errorf("%q", got)
	}
	client.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("busy")
	})
	if err := records.Supersede(t.Context(), revision, 3); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("what is to be superseded cannot be listed: %v", err)
	}
}

// paged is an API server that gives one Secret at a time.
type paged struct{ typedcorev1.SecretInterface }

func (p paged) List(ctx context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	at := 0
	_, _ = fmt.Sscan(o.Continue, &at)
	o.Continue = ""
	list, err := p.SecretInterface.List(ctx, o)
	if err == nil && at < len(list.Items) {
		rest := len(list.Items) - at
		list.Items = list.Items[at : at+1]
		if rest > 1 {
			list.Continue = fmt.Sprint(at + 1)
		}
	}
	return list, err
}

// All records are read, however many there are.
func TestPages(t *testing.T) {
	secrets := clientset.NewClientset().CoreV1().Secrets("ns")
	records := Records{Secrets: paged{secrets}, Namespace: "ns"}
	for range 4 {
		upgrade(t, records, bundleOf(t, 100), 10)
	}
	attempt(t, records, "b", 100)
	records.Secrets = secrets
	want := []string{"3 superseded plain", "4 deployed plain", "5 failed b"}
	if got := history(t, records); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What is wrong with the record of a bundle is mended otherwise than that of a workspace.
func TestRepair(t *testing.T) {
	secrets := clientset.NewClientset().CoreV1().Secrets("ns")
	_, err := secrets.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: "sh.helm.release.v1.a.v1", Labels: map[string]string{"owner": "helm", "name": "a", "version": "1"},
	}, Type: recordType}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Records{Secrets: secrets, Namespace: "ns"}.Latest(t.Context(), "a")
	if hint := fault.From(err).Hint; !strings.Contains(hint, "berth delete id/a --namespace ns") {
		t.Error(hint)
	}
	_, err = Records{
		Secrets: secrets, Namespace: "ns",
		Repair: func(secret string) string { return "delete " + secret },
	}.Latest(t.Context(), "a")
	if hint := fault.From(err).Hint; hint != "restore the Secret, or delete sh.helm.release.v1.a.v1" {
		t.Error(hint)
	}
}
