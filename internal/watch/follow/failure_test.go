package follow

import (
	"context"
	"errors"
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
)

// refusing is a server whose answers are errors, and which is told when it is asked.
type refusing struct {
	err   error
	asked *[]time.Duration
	began time.Time
}

func (r refusing) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return nil, r.err
}

func (r refusing) Watch(context.Context, metav1.ListOptions) (apiwatch.Interface, error) {
	*r.asked = append(*r.asked, time.Since(r.began))
	return nil, r.err
}

// What the API server would answer again ends a source at once; what may pass is waited for, for ten
// seconds at first.
func TestAnswersAtFirst(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		err  error
		code fault.Code
		once bool
	}{
		"forbidden": {
			apierrors.NewForbidden(pods, "", errors.New(`User "alice" cannot do that`)),
			fault.PermissionDenied, true,
		},
		"not logged in": {apierrors.NewUnauthorized("no"), fault.Unauthenticated, true},
		"no such kind":  {apierrors.NewNotFound(pods, ""), fault.NotFound, true},
		"a bad request": {apierrors.NewBadRequest("no"), fault.Internal, true},
		"an invalid one": {
			apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil), fault.Internal,
			true,
		},
		"a method":          {apierrors.NewMethodNotSupported(pods, "watch"), fault.Internal, true},
		"busy":              {apierrors.NewServiceUnavailable("busy"), fault.Unavailable, false},
		"cannot be reached": {errors.New("connection refused"), fault.Unavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Duration
				began := time.Now()
				_, err := Open(t.Context(), web, PodSource(refusing{c.err, &asked, began}, "dev", "web"))
				if fault.CodeOf(err) != c.code || (len(asked) == 1) != c.once {
					t.Errorf("%v, after %s", err, asked)
				}
				if took := time.Since(began); c.once && took != 0 || !c.once &&
					(took <= openPatience || took > openPatience+longestPause) {
					t.Errorf("it ends after %s", took)
				}
			})
		})
	}
}

// A refusal of what was allowed is believed when it has lasted for ten seconds in a row.
func TestMayPass(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
	synctest.Test(t, func(t *testing.T) {
		f := &feed{}
		for _, c := range []struct {
			after time.Duration
			err   error
			want  bool
		}{
			{0, forbidden, true},
			{refusalPatience - 1, apierrors.NewUnauthorized("no"), true},
			{1, forbidden, false},
			{0, apierrors.NewServiceUnavailable("busy"), false},
			{0, forbidden, true}, // another row
			{refusalPatience, forbidden, false},
		} {
			time.Sleep(c.after)
			if got := f.mayPass(c.err); got != c.want {
				t.Errorf("%s later, %v: %t", c.after, c.err, got)
			}
		}
	})
}

// A list is of what the source is about; one that cannot be read is an error.
func TestSourceList(t *testing.T) {
	s := newServer()
	for name, c := range map[string]struct {
		answer runtime.Object
		err    error
		want   int
	}{
		"pods": {&corev1.PodList{
			ListMeta: metav1.ListMeta{ResourceVersion: "9"},
			Items: []corev1.Pod{
				{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
				{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
			},
		}, nil, 1},
		"an error": {nil, errors.New("away"), -1},
		"no list":  {&metav1.Status{}, nil, -1},
		"a pod":    {&corev1.Pod{}, nil, -1},
	} {
		source := PodSource(answering{s, c.answer, c.err}, "dev", "web")
		objects, version, err := source.list(t.Context())
		if (err != nil) != (c.want < 0) || c.want >= 0 && (len(objects) != c.want || version != "9") || err != nil &&
			(objects != nil || version != "") {
			t.Errorf("%s: %v at %q, %v", name, objects, version, err)
		}
	}
}

// answering is a server that lists this.
type answering struct {
	ListWatcher
	answer runtime.Object
	err    error
}

func (a answering) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return a.answer, a.err
}

// flaky is a server that opens one watch, which expires, and then fails to list: at once, but for
// the seventh time, which takes long.
type flaky struct {
	asked, answered *[]time.Time
}

func (f flaky) List(context.Context, metav1.ListOptions) (runtime.Object, error) {
	*f.asked = append(*f.asked, time.Now())
	if len(*f.asked) == 7 {
		time.Sleep(watchGrace + time.Second)
	}
	*f.answered = append(*f.answered, time.Now())
	return nil, apierrors.NewServiceUnavailable("busy")
}

func (flaky) Watch(context.Context, metav1.ListOptions) (apiwatch.Interface, error) {
	w := apiwatch.NewFakeWithOptions(apiwatch.FakeOptions{ChannelSize: 1})
	w.Error(&apierrors.NewResourceExpired("too old").ErrStatus)
	return w, nil
}

// The pauses between attempts grow, up to a bound, and begin again after one that was of use.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var asked, answered []time.Time
		_ = Reflect(ctx, PodSource(flaky{&asked, &answered}, "dev", "web"), &notes{})
		var pauses []time.Duration
		for i := 1; i < len(asked); i++ {
			pauses = append(pauses, asked[i].Sub(answered[i-1]))
		}
		if len(pauses) < 15 || pauses[5] < 4*time.Second || pauses[6] > time.Second || pauses[7] < pauses[6] {
			t.Fatalf("%s", pauses)
		}
		for _, pause := range pauses {
			if pause < firstPause || pause > longestPause {
				t.Errorf("a pause of %s", pause)
			}
		}
	})
}
