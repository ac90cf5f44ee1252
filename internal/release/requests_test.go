package release

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
)

var secretsResource = corev1.SchemeGroupVersion.WithResource("secrets")

// past is a release with three revisions: superseded and in two chunks, deployed and small,
// and one in two chunks that is about to be applied. Every Secret has a UID and a version.
func past(t *testing.T) (*clientset.Clientset, Records, *helm.Release) {
	t.Helper()
	client, writes := clientset.NewClientset(), 0
	client.PrependReactor("create", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		secret := action.(clienttesting.CreateAction).GetObject().(*corev1.Secret)
		writes++
		if writes > 7 { // no more than there are to begin with
			return false, nil, nil
		}
		secret.Namespace, secret.UID, secret.ResourceVersion = "ns", types.UID("uid of "+secret.Name),
			fmt.Sprint(writes)
		return true, secret, client.Tracker().Add(secret) // which takes less time than the client does
	})
	records := Records{Secrets: client.CoreV1().Secrets("ns"), Namespace: "ns", most: 2000}
	var revision *helm.Release
	for i, status := range []helm.Status{helm.StatusSuperseded, helm.StatusDeployed, helm.StatusPendingUpgrade} {
		revision = NewRevision("a", "ns", bundleOf(t, []int{4_000, 100, 4_000}[i]), nil, time.Unix(1795218685, 0))
		revision.Version, revision.Info.Status = i+1, status
		if err := records.Create(t.Context(), revision); err != nil {
			t.Fatal(err)
		}
	}
	client.ClearActions()
	return client, records, revision
}

// said are requests as a line: the verb, and whether it is of a chunk (c) or a record (r) and of which
// revision.
func said(actions []clienttesting.Action) string {
	var words []string
	for _, action := range actions {
		name := ""
		switch action := action.(type) {
		case clienttesting.UpdateAction:
			name = action.GetObject().(*corev1.Secret).Name
		case interface{ GetName() string }:
			name = action.GetName()
		}
		word := action.GetVerb()
		if _, rest, found := strings.Cut(name, ".a."); found {
			revision, _, chunk := strings.Cut(rest, ".")
			word += map[bool]string{true: "-chunk-", false: "-"}[chunk] + revision
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func confirmed(context.Context) error { return nil }

// scenarios are what is done with records, and the requests that it takes.
var scenarios = map[string]struct {
	do       func(ctx context.Context, records Records, revision *helm.Release) error
	requests string
}{
	"read the newest": {func(ctx context.Context, r Records, _ *helm.Release) error {
		_, err := r.Latest(ctx, "a")
		return err
	}, "list get-chunk-v3 get-chunk-v3"},
	"read what is installed": {func(ctx context.Context, r Records, _ *helm.Release) error {
		_, err := r.Installed(ctx, "a")
		return err
	}, "list"},
	"read all": {func(ctx context.Context, r Records, _ *helm.Release) error {
		_, err := r.All(ctx, "a")
		return err
	}, "list get-chunk-v1 get-chunk-v1 get-chunk-v3 get-chunk-v3"},
	"read what was not applied": {func(ctx context.Context, r Records, _ *helm.Release) error {
		_, err := r.After(ctx, "a", 2)
		return err
	}, "list get-chunk-v3 get-chunk-v3"},
	"write a large one": {func(ctx context.Context, r Records, revision *helm.Release) error {
		next := *revision
		next.Version, next.Labels = 4, nil
		return r.Create(ctx, &next)
	}, "create-chunk-v4 create-chunk-v4 create-v4"},
	"succeed": {func(ctx context.Context, r Records, revision *helm.Release) error {
		return r.Succeeded(ctx, revision, 2, time.Now())
	}, "update-v3 list update-v2 delete-v1 list delete-chunk-v1 delete-chunk-v1"},
	"fail": {func(ctx context.Context, r Records, revision *helm.Release) error {
		return r.Failed(ctx, revision, "no", 2, func(*helm.Release) bool { return true })
	}, "update-v3 list delete-v1 list delete-chunk-v1 delete-chunk-v1"},
	"remove all": {func(ctx context.Context, r Records, _ *helm.Release) error {
		_, err := r.Purge(ctx, "a", confirmed, apply.DryRunNone)
		return err
	}, "list delete-v1 delete-v2 delete-v3 list delete-chunk-v1 delete-chunk-v1 delete-chunk-v3 delete-chunk-v3"},
}

// Whichever request fails, that is the error, and nothing more is asked for.
func TestEachFailingRequest(t *testing.T) {
	for name, scenario := range scenarios {
		wanted := strings.Fields(scenario.requests)
		for failing := range len(wanted) + 1 {
			client, records, revision := past(t)
			asked := 0
			client.PrependReactor("*", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
				asked++
				return asked == failing+1, nil, apierrors.NewServiceUnavailable("busy")
			})
			err := scenario.do(t.Context(), records, revision)
			want := strings.Join(wanted[:min(failing+1, len(wanted))], " ")
			if got := said(client.Actions()); got != want {
				t.Errorf("%s, request %d fails: asked for\n%s, want\n%s", name, failing+1, got, want)
			}
			if failing == len(wanted) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			verb, _, _ := strings.Cut(wanted[failing], "-")
			if fault.CodeOf(err) != fault.Unavailable || fault.ReasonOf(err) == ReasonUnreadable ||
				!strings.Contains(err.Error(), "cannot "+verb+" secret") {
				t.Errorf("%s, %s fails: %v", name, wanted[failing], err)
			}
		}
	}
}

// What somebody else has removed in the meantime is no error, and what is left is removed.
func TestRemovedInTheMeantime(t *testing.T) {
	for name, scenario := range scenarios {
		if !strings.Contains(scenario.requests, "delete") {
			continue
		}
		client, records, revision := past(t)
		client.PrependReactor("delete", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			name := action.(clienttesting.DeleteAction).GetName()
			return true, nil, apierrors.NewNotFound(secretsResource.GroupResource(), name)
		})
		if err := scenario.do(t.Context(), records, revision); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := said(client.Actions()); got != scenario.requests {
			t.Errorf("%s: asked for\n%s, want\n%s", name, got, scenario.requests)
		}
	}
}

// What is changed or removed is the very version that was read; a chunk never changes.
func TestOnlyWhatWasRead(t *testing.T) {
	for name, scenario := range scenarios {
		client, records, revision := past(t)
		list, err := records.Secrets.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{}
		for _, s := range list.Items {
			versions[s.Name] = s.ResourceVersion
		}
		client.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			s := action.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
			if s.ResourceVersion != versions[s.Name] {
				t.Errorf("%s: updates version %q of %s, not %q", name, s.ResourceVersion, s.Name, versions[s.Name])
			}
			return false, nil, nil
		})
		client.PrependReactor("delete", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
			gone := action.(clienttesting.DeleteActionImpl)
			only := gone.DeleteOptions.Preconditions
			if only == nil || only.UID == nil || *only.UID != types.UID("uid of "+gone.Name) {
				t.Errorf("%s: deletes any %s", name, gone.Name)
				return false, nil, nil
			}
			if isChunk := strings.HasPrefix(gone.Name, "berth."); !isChunk &&
				(only.ResourceVersion == nil || *only.ResourceVersion != versions[gone.Name]) {
				t.Errorf("%s: deletes any version of %s", name, gone.Name)
			}
			return false, nil, nil
		})
		if err := scenario.do(t.Context(), records, revision); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
