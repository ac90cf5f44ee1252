package lock

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

func TestTokensAreOrdered(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		after bool
	}{
		{"12 bob", "9 alice", true},
		{"9 bob", "12 alice", false},
		{"12 bob", "12 alice", false},
		{"", "12 alice", false},
		{"12 bob", "", false},
		{"012 bob", "1 alice", false},
		{"-3", "1", false},
		{"99999999999999999999999999 bob", "3 alice", true},
	} {
		if got := ParseToken(test.a).After(ParseToken(test.b)); got != test.after {
			t.Errorf("%q after %q: %t", test.a, test.b, got)
		}
	}
}

// What anybody may have written is harmless where it is shown.
func TestTokenOfAnotherHand(t *testing.T) {
	got := ParseToken("7 bob\n`rm`\x1b[2J" + strings.Repeat("x", 500))
	if got.Generation != "7" || !strings.HasPrefix(got.Holder, "bobrm[2Jx") || len(got.Holder) > maxHolder+
		len("… (508 bytes)") {
		t.Errorf("%+v", got)
	}
	if got := ParseToken("7 x" + strings.Repeat("é", 500)).Holder; !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

// versioned is a cluster whose leases have versions, as an API server gives them: an
// update of another version than the newest is a conflict.
func versioned(t *testing.T) (a, b Locker) {
	t.Helper()
	client, version := fake.NewClientset(), 7
	client.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		writing, is := action.(interface{ GetObject() runtime.Object })
		if !is {
			return false, nil, nil
		}
		lease := writing.GetObject().(*coordinationv1.Lease)
		if action.GetVerb() == "update" && lease.ResourceVersion != strings.Repeat("1", version) {
			return true, nil, apierrors.NewConflict(coordinationv1.Resource("leases"), lease.Name, errors.New("newer"))
		}
		version++
		lease.ResourceVersion = strings.Repeat("1", version)
		return false, nil, nil
	})
	a = Locker{Leases: client.CoordinationV1().Leases("ns"), Namespace: "ns", Self: Self(), Now: time.Now}
	b = a
	b.Self = Holder{User: "bob", Host: "elsewhere", PID: 1, Started: "1", Nonce: "x"}
	return a, b
}

// A holder that was suspended finds what a newer one has written, and stops; the
// newest does not stop at what came from elsewhere.
func TestCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := versioned(t)
		old, _, err := a.Try(t.Context(), "alice-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		old.stop() // it is suspended
		old.done.Wait()
		if err := a.Leases.Delete(t.Context(), name("alice-1"), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		newer, _, err := b.Try(t.Context(), "alice-1", nil)
		if err != nil || newer == nil {
			t.Fatal(newer, err)
		}
		written := func(by *Lock) map[string]string {
			name, value := by.Mark()
			return map[string]string{name: value}
		}
		err = old.Check(t.Context(), written(newer))
		if !errors.Is(err, ErrTaken) || fault.CodeOf(err) != fault.Conflict ||
			!strings.Contains(err.Error(), "bob on elsewhere (process 1)") {
			t.Errorf("it goes on with %v", err)
		}
		for what, annotations := range map[string]map[string]string{
			"what is older":          written(old),
			"what nobody has marked": nil,
			"what is unreadable":     {kube.AnnotationLock: "x y"},
			"of another cluster":     {kube.AnnotationLock: strings.Repeat("9", 60) + " eve"},
		} {
			if err := newer.Check(t.Context(), annotations); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		newer.Release(t.Context())
	})
}
