package release

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientset "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
)

// bundleOf is content with a text of that many bytes, which cannot be compressed.
func bundleOf(t *testing.T, size int) Content {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, size)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[random.IntN(64)]
	}
	manifest, err := Manifest([]*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "a", "namespace": "ns"}, "data": map[string]any{"a": string(text)},
		}},
		{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "crews.example.org"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Content{Chart: Plain("plain", "1.2.3"), Manifest: manifest, Config: map[string]any{"a": "b"}}
}

// upgrade records one more revision as deployed.
func upgrade(t *testing.T, records Records, content Content, keep int) *helm.Release {
	t.Helper()
	before, err := records.Latest(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	revision := NewRevision("a", "ns", content, before, time.Now())
	if err := records.Create(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	if err := records.Succeeded(t.Context(), revision, keep, time.Now()); err != nil {
		t.Fatal(err)
	}
	return revision
}

func secretNames(t *testing.T, client *clientset.Clientset) (names []string) {
	t.Helper()
	list, err := client.CoreV1().Secrets("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range list.Items {
		names = append(names, secret.Name)
	}
	slices.Sort(names)
	return names
}

// Each upgrade is a revision, the one before is superseded, and the oldest go: as Helm
// has it, and reads it.
func TestHistory(t *testing.T) {
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	for range 5 {
		upgrade(t, records, bundleOf(t, 100), 3)
	}
	helms, err := driver.NewSecrets(records.Secrets).Query(map[string]string{"owner": "helm", "name": "a"})
	if err != nil {
		t.Fatal(err)
	}
	releaseutil.SortByRevision(helms)
	var got []string
	for _, r := range helms {
		got = append(got, strings.Join([]string{
			key(r), r.Info.Status.String(), r.Info.Description,
			r.Chart.Metadata.Version,
		}, " "))
	}
	want := []string{
		"sh.helm.release.v1.a.v3 superseded Upgrade complete 1.2.3",
		"sh.helm.release.v1.a.v4 superseded Upgrade complete 1.2.3",
		"sh.helm.release.v1.a.v5 deployed Upgrade complete 1.2.3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !strings.Contains(helms[2].Manifest, "helm.sh/resource-policy: keep") ||
		strings.Count(helms[2].Manifest, "keep") != 1 {
		t.Error("a definition would go with its resources")
	}
}

// All records are read, the newest first, those in chunks as well, and one that cannot be read
// is left out.
func TestAll(t *testing.T) {
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	for _, size := range []int{100, 4_000, 100, 100, 100, 100, 100, 100, 100, 100} {
		upgrade(t, records, bundleOf(t, size), 20)
	}
	broken, err := client.CoreV1().Secrets("ns").Get(t.Context(), Key("a", 1), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	broken.Data[recordKey] = []byte("nonsense")
	if _, err := client.CoreV1().Secrets("ns").Update(t.Context(), broken, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	all, err := records.All(t.Context(), "a")
	var versions []int
	for _, r := range all {
		versions = append(versions, r.Version)
	}
	if err != nil || !slices.Equal(versions, []int{10, 9, 8, 7, 6, 5, 4, 3, 2}) || len(all[8].Manifest) < 4_000 {
		t.Errorf("%d, %v", versions, err)
	}
	_, unreadable, err := records.History(t.Context(), "a")
	if err != nil || len(unreadable) != 1 || unreadable[0].Version != 1 ||
		fault.ReasonOf(unreadable[0].Err) != ReasonUnreadable {
		t.Errorf("%+v, %v", unreadable, err)
	}
}

// Whatever is written belongs to the owners, whatever its status becomes.
func TestOwners(t *testing.T) {
	owners := []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Boat", Name: "a", UID: "1"}}
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", Owners: owners, most: 2000}
	upgrade(t, records, bundleOf(t, 4_000), 3)
	upgrade(t, records, bundleOf(t, 100), 3)
	list, err := client.CoreV1().Secrets("ns").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 4 {
		t.Fatalf("%d Secrets, %v", len(list.Items), err)
	}
	for _, s := range list.Items {
		if !slices.Equal(s.OwnerReferences, owners) {
			t.Errorf("%s belongs to %v", s.Name, s.OwnerReferences)
		}
	}
}

// A record that does not fit into a Secret is read as it was written, whatever its status
// becomes, and nothing of it is left when it goes.
func TestChunks(t *testing.T) {
	client := clientset.NewClientset()
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	first, second := bundleOf(t, 4_000), bundleOf(t, 3_500)
	upgrade(t, records, first, 2)
	chunks := 0
	for _, action := range client.Actions() {
		if create, is := action.(clienttesting.CreateAction); is &&
			create.GetObject().(*corev1.Secret).Type == chunkType {
			chunks++
		}
	}
	if names := secretNames(t, client); chunks != 2 || len(names) != 3 {
		t.Errorf("%d chunks written: %q", chunks, names)
	}
	found, err := records.Latest(t.Context(), "a")
	if err != nil || found.Manifest != first.Manifest || found.Config["a"] != "b" ||
		found.Info.Status != helm.StatusDeployed {
		t.Fatalf("it is read as %+v, %v", found, err)
	}
	if !IsInChunks(found) || !IsInChunks(upgrade(t, records, second, 2)) {
		t.Error("it is not said to be in chunks")
	}
	if names := secretNames(t, client); len(names) != 6 {
		t.Errorf("two revisions: %q", names)
	}
	if IsInChunks(upgrade(t, records, bundleOf(t, 100), 2)) {
		t.Error("a small one is said to be in chunks")
	}
	if found, err := records.Latest(t.Context(), "a"); err != nil || found.Version != 3 ||
		found.Info.Status != helm.StatusDeployed {
		t.Errorf("%+v, %v", found, err)
	}
	if names := secretNames(t, client); len(names) != 4 { // those of revision 2, and the small one
		t.Errorf("revision 1 is gone: %q", names)
	}
	if _, err := records.Purge(t.Context(), "a", func(context.Context) error { return nil },
		apply.DryRunNone); err != nil {
		t.Fatal(err)
	}
	if names := secretNames(t, client); len(names) != 0 {
		t.Errorf("left: %q", names)
	}
}

// Helm lists the record of a release that is kept in chunks, and what would delete or
// change by its manifest fails before it does.
func TestHelmAndChunks(t *testing.T) {
	records := Records{Secrets: clientset.NewClientset().CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	upgrade(t, records, bundleOf(t, 4_000), 2)
	helms := driver.NewSecrets(records.Secrets)
	found, err := helms.Get("sh.helm.release.v1.a.v1")
	if err != nil || found.Info.Status != helm.StatusDeployed || found.Chart.Name() != "plain" ||
		found.Chart.Metadata.Version != "1.2.3" {
		t.Fatalf("%+v, %v", found, err)
	}
	// What helm uninstall does first with a manifest.
	_, files, err := releaseutil.SortManifests(releaseutil.SplitManifests(found.Manifest), nil,
		releaseutil.UninstallOrder)
	if err == nil {
		t.Errorf("helm would take %v for objects", files)
	}
	// It has written its own status by then, which does no harm.
	found.Info.Status = helm.StatusUninstalling
	if err := helms.Update(key(found), found); err != nil {
		t.Fatal(err)
	}
	if again, err := records.Latest(t.Context(), "a"); err != nil ||
		!strings.Contains(again.Manifest, "kind: ConfigMap") || again.Info.Status != helm.StatusUninstalling {
		t.Errorf("%+v, %v", again, err)
	}
}

// Chunks that are missing or changed are an error that says so.
func TestBrokenChunks(t *testing.T) {
	for name, test := range map[string]struct {
		change func(secrets *clientset.Clientset, chunk *corev1.Secret) error
		says   string
	}{
		"missing": {func(c *clientset.Clientset, chunk *corev1.Secret) error {
			return c.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), "ns", chunk.Name)
		}, "is missing"},
		"changed": {func(c *clientset.Clientset, chunk *corev1.Secret) error {
			chunk.Data[chunkKey][0]++
			return c.Tracker().Update(corev1.SchemeGroupVersion.WithResource("secrets"), chunk, "ns")
		}, "not as they were written"},
	} {
		client := clientset.NewClientset()
		records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
		upgrade(t, records, bundleOf(t, 4_000), 2)
		list, err := records.Secrets.List(t.Context(), metav1.ListOptions{LabelSelector: labelOf + "=a"})
		if err != nil || len(list.Items) == 0 {
			t.Fatal(err)
		}
		if err := test.change(client, &list.Items[0]); err != nil {
			t.Fatal(err)
		}
		if _, err = records.Latest(t.Context(), "a"); fault.ReasonOf(err) != ReasonUnreadable ||
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A record that does not say where its chunks are, or names more than can be, is an error before
// one is read.
func TestRecordWithoutItsChunks(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for name, notes := range map[string]map[string]string{
		"no number":       {labelChunks: "two", keyDigest: digest},
		"none":            {labelChunks: "0", keyDigest: digest},
		"fewer than none": {labelChunks: "-1", keyDigest: digest},
		"far too many":    {labelChunks: "1000000", keyDigest: digest},
		"one too many":    {labelChunks: "65", keyDigest: digest},
		"no digest":       {labelChunks: "2"},
	} {
		client := clientset.NewClientset()
		small := &helm.Release{
			Name: "a", Version: 1, Info: &helm.Info{},
			Chart: &chart.Chart{Metadata: &chart.Metadata{Annotations: notes}},
		}
		_, err := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns"}.whole(t.Context(), small)
		if err == nil || !strings.Contains(err.Error(), "does not say where its chunks are") ||
			len(client.Actions()) > 0 {
			t.Errorf("%s: %v after %d requests", name, err, len(client.Actions()))
		}
	}
}

// What stands for a record in chunks is written only over the version that was read.
func TestVersionOfARecordInChunks(t *testing.T) {
	records := Records{Secrets: clientset.NewClientset().CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	record := upgrade(t, records, bundleOf(t, 4_000), 2)
	record.Labels[labelVersion] = "7"
	for _, which := range []string{"whose chunks are there", "whose chunks are not"} {
		small, err := records.writeChunks(t.Context(), record, nil)
		if err != nil || small.Labels[labelVersion] != "7" {
			t.Errorf("one %s: %v, %v", which, small, err)
		}
		delete(record.Labels, labelKept)
	}
}

// Killed after any of its writes, an upgrade leaves a record that can be read: the older
// one, or the newer.
func TestKilledWhileWriting(t *testing.T) {
	for after := 0; ; after++ {
		client := clientset.NewClientset()
		records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
		first, second := bundleOf(t, 3_000), bundleOf(t, 3_200)
		upgrade(t, records, first, 2)
		writes := 0
		client.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if verb := action.GetVerb(); verb == "create" || verb == "update" || verb == "delete" {
				writes++
				if writes > after {
					return true, nil, context.Canceled
				}
			}
			return false, nil, nil
		})
		before, err := records.Latest(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		revision := NewRevision("a", "ns", second, before, time.Now())
		if err = records.Create(t.Context(), revision); err == nil {
			err = records.Succeeded(t.Context(), revision, 2, time.Now())
		}
		found, readErr := records.Latest(t.Context(), "a")
		if readErr != nil || found.Manifest != first.Manifest && found.Manifest != second.Manifest {
			t.Fatalf("after %d writes: %v", after, readErr)
		}
		if err == nil {
			return
		}
	}
}
