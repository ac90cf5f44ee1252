package follow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// streaming is a server that has streaming lists, or says that it has not.
type streaming struct {
	*server
	without bool
}

func (s streaming) Watch(ctx context.Context, opts metav1.ListOptions) (apiwatch.Interface, error) {
	if s.without && opts.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	}
	w, err := s.server.Watch(ctx, opts)
	if opts.SendInitialEvents != nil {
		for i := range s.held.Items {
			s.live.Add(&s.held.Items[i])
		}
		s.live.Action(apiwatch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: s.held.ResourceVersion,
			Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
	}
	return w, err
}

// notes is a Sink that records its calls.
type notes struct{ said []string }

func (n *notes) Listing()          { n.said = append(n.said, "listing") }
func (n *notes) Opened()           { n.said = append(n.said, "opened") }
func (n *notes) Interrupted(error) { n.said = append(n.said, "interrupted") }

func (n *notes) Replace(objects []runtime.Object, version string) {
	for _, o := range objects {
		version += " " + o.(*corev1.Pod).Name
	}
	n.said = append(n.said, "list "+version)
}

func (n *notes) Apply(change apiwatch.EventType, object runtime.Object) {
	n.said = append(n.said, string(change)+" "+object.(*corev1.Pod).Name)
}

// A source that is to be in sync begins with a complete list: in one request where
// the API server can stream it, and else in a list and a watch.
func TestSync(t *testing.T) {
	for name, test := range map[string]struct {
		without bool
		lists   int
		said    []string
	}{
		"streamed": {false, 0, []string{"opened", "list 9 web", "ADDED web-2"}},
		"listed":   {true, 1, []string{"listing", "list 9 web", "opened", "ADDED web-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				s := streaming{newServer(), test.without}
				s.forget(9, watchtest.NewPod("web", "1").Version(5).Pod)
				source := PodSource(s, "dev", "web")
				source.Covers, source.Sync = func(metav1.Object) bool { return true }, true
				var to notes
				ended := make(chan error, 1)
				go func() { ended <- Reflect(ctx, source, &to) }()
				synctest.Wait()
				s.add(watchtest.NewPod("web-2", "2").Version(10).Pod)
				synctest.Wait()
				if lists, _ := s.requests(); lists != test.lists || !slices.Equal(to.said, test.said) {
					t.Errorf("%d lists, %q; want %d, %q", lists, to.said, test.lists, test.said)
				}
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("it ended: %v", err)
				}
			})
		})
	}
}

// silent is a server that takes requests and does not answer.
type silent struct{}

func (silent) List(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) Watch(ctx context.Context, _ metav1.ListOptions) (apiwatch.Interface, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := Open(t.Context(), web, PodSource(silent{}, "dev", "web"))
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "no answer within 30s") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took != requestTime {
			t.Errorf("gave up after %s", took)
		}
	})
}
