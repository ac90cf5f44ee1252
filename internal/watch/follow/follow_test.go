package follow

import (
	"context"
	"errors"
	"net/http"
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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestOpenCostsOneRequestASource(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		for _, s := range []*server{fw.pods, fw.events} {
			lists, watches := s.requests()
			if lists != 0 || watches != 1 {
				t.Errorf("%d lists and %d watches, want 0 and 1", lists, watches)
			}
			if opts := s.watches[0]; opts.ResourceVersion != "" || !opts.AllowWatchBookmarks ||
				opts.TimeoutSeconds == nil ||
				*opts.TimeoutSeconds > 60 {
				t.Errorf("watch options %+v", opts)
			}
		}
		if got := fw.events.watches[0].FieldSelector; got != "involvedObject.kind=Pod,involvedObject.name=web" {
			t.Errorf("event selector %q", got)
		}
	})
}

func TestPullDelayIsDrivenByTime(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		began := time.Now()
		fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(1).Pod)
		fw.events.add(watchtest.Event("web", "1", "app", "Pulling", `Pulling image "x/app:1"`).At(began).
			Version(1).Event)
		time.Sleep(8*time.Second - time.Nanosecond)
		if got := fw.stages(); !slices.Equal(got, []v1.Stage{v1.StageStarting}) {
			t.Fatalf("stages %v before the delay is over", got)
		}
		time.Sleep(time.Nanosecond)
		if got := fw.stages(); !slices.Equal(got, []v1.Stage{v1.StageStarting, v1.StagePulling}) {
			t.Fatalf("stages %v after 8 s", got)
		}
	})
}

// What is final is reported when it happens, without any time passing, and so is the
// first word of what may pass: as tentative, until it has lasted.
func TestCausesAreReportedAtOnce(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		began := time.Now()
		fw.pods.add(watchtest.NewPod("web", "1").Version(1).Pod)
		fw.events.add(watchtest.Event("web", "1", "", "FailedScheduling",
			"0/1 nodes are available: 1 Insufficient cpu.").
			At(began).Warn().Version(1).Event)
		if c := fw.last().Cause; c == nil || c.Code != cause.Unschedulable || !c.Tentative {
			t.Errorf("at once: %+v", c)
		}
		time.Sleep(3*time.Second - time.Nanosecond)
		if c := fw.last().Cause; c == nil || !c.Tentative {
			t.Errorf("before 3 s: %+v", c)
		}
		time.Sleep(time.Nanosecond)
		if c := fw.last().Cause; c == nil || c.Tentative {
			t.Errorf("after 3 s: %+v", c)
		}
		fw.pods.modify(watchtest.NewPod("web", "1", watchtest.OnNode,
			watchtest.App(watchtest.Waits("ErrImagePull", "x/app:1: not found"))).Version(2).Pod)
		if s := fw.last(); s.Stage != v1.StageFailed || s.Cause.Tentative || time.Since(began) != 3*time.Second {
			t.Errorf("%s, %+v after %s", s.Stage, s.Cause, time.Since(began))
		}
	})
}

// A pull that began a minute ahead of this clock is mentioned after 8 s all the same.
func TestAClockThatIsBehind(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(1).Pod)
		fw.events.add(watchtest.Event("web", "1", "app", "Pulling", "").At(time.Now().Add(time.Minute)).
			Version(1).Event)
		time.Sleep(8 * time.Second)
		if got := fw.last().Stage; got != v1.StagePulling {
			t.Fatalf("stage %s after 8 s", got)
		}
	})
}

// With a clock that is late, a caller who has just begun to wait waits for as long as with another.
func TestWaitingByAClockThatIsBehind(t *testing.T) {
	for _, late := range []time.Duration{0, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			fw := start(t, t.Context())
			fw.hold(watchtest.NewPod("web", "1", func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
					Message: "0/3 nodes are available: 3 Insufficient cpu.", LastTransitionTime: metav1.Now(),
				}}
			}).Version(1).Pod)
			time.Sleep(2 * time.Minute)
			began := time.Now()
			fw.events.add(watchtest.Event("web", "1", "", "Noted", "at this time").At(began).Version(2).Event)
			synctest.Wait()
			now := func() time.Time { return time.Now().Add(-late) }
			p := cause.DefaultPolicy().Waiting(now())
			p.StuckAfter = 90 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var last v1.Snapshot
			err := fw.f.Run(ctx, p, now, func(c Change) bool {
				last = c.Snapshot
				return last.Verdict() == v1.VerdictStuck
			})
			if waited := time.Since(began); err != nil || waited != p.StuckAfter {
				t.Errorf("%s late: it waits for %s, %v, and reads %+v", late, waited, err, last)
			}
			fw.f.Close()
		})
	}
}

// Sources are made of client-go's typed clients.
func podClient(c kubernetes.Interface) ListWatcher { return Client(c.CoreV1().Pods("dev")) }

func TestTypedClients(t *testing.T) {
	pod := watchtest.NewPod("web", "1").Pod
	list, err := podClient(fake.NewClientset(pod)).List(t.Context(), metav1.ListOptions{})
	if pods, ok := list.(*corev1.PodList); err != nil || !ok || len(pods.Items) != 1 {
		t.Errorf("%T %+v, %v", list, list, err)
	}
}

func TestStagesAreNotSkippedForASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		fw := start(t, ctx)
		fw.pods.add(watchtest.NewPod("web", "1").Version(1).Pod)
		fw.pods.modify(watchtest.NewPod("web", "1", watchtest.OnNode).Version(2).Pod)
		fw.pods.modify(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady).Version(3).Pod)
		synctest.Wait() // everything is sent before it is read
		fw.run(ctx)
		want := []v1.Stage{v1.StageScheduling, v1.StageStarting, v1.StageRunning}
		if got := fw.stages(); !slices.Equal(got, want) {
			t.Errorf("stages %v, want %v", got, want)
		}
		cancel()
		fw.f.Close()
	})
}

// However a watch ends, what happened meanwhile is known afterwards: from where the
// watch was, if that is known and the server still has it, and else by a list.
func TestAWatchThatEndsIsReplaced(t *testing.T) {
	gone := apierrors.NewResourceExpired("too old").Status()
	ready := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady).Version(7).Pod
	for name, test := range map[string]struct {
		end   func(*server)
		lists int
		from  string
	}{
		"closed":                     {func(s *server) { s.bookmark("6"); s.live.Stop(); s.modify(ready) }, 0, "6"},
		"closed before any bookmark": {func(s *server) { s.forget(9, ready); s.live.Stop() }, 1, "9"},
		"410 Gone": {
			func(s *server) { s.bookmark("6"); s.forget(9, ready); s.live.Error(&gone) }, 1,
			"9",
		},
		"410 Gone for the one after it": {
			func(s *server) { s.bookmark("6"); s.forget(9, ready); s.live.Stop() }, 1,
			"9",
		},
		"stalled": {func(s *server) {
			s.bookmark("6")
			s.set(func(s *server) { s.sent = append(s.sent, apiwatch.Event{Type: apiwatch.Modified, Object: ready}) })
			time.Sleep(watchTime + watchGrace)
		}, 0, "6"},
	} {
		t.Run(name, func(t *testing.T) {
			following(t, func(t *testing.T, fw *follow) {
				fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(5).Pod)
				synctest.Wait()
				test.end(fw.pods)
				time.Sleep(longestPause)
				if got := fw.last().Stage; got != v1.StageRunning {
					t.Errorf("stage %s, want what happened meanwhile", got)
				}
				lists, watches := fw.pods.requests()
				if last := fw.pods.watches[watches-1].ResourceVersion; lists != test.lists || last != test.from {
					t.Errorf("%d lists, watch from %q; want %d and %q", lists, last, test.lists, test.from)
				}
				if got := fw.stages(); !slices.Equal(got, []v1.Stage{v1.StageStarting, v1.StageRunning}) {
					t.Errorf("stages %v", got)
				}
			})
		})
	}
}

func TestWhatIsRemovedMeanwhileIsGone(t *testing.T) {
	for name, end := range map[string]func(*server){
		"not listed": func(s *server) { s.forget(9); s.live.Stop() },
		"reported by the next watch": func(s *server) {
			s.bookmark("6")
			s.live.Stop()
			s.remove(watchtest.NewPod("web", "1", watchtest.OnNode).Version(7).Pod)
		},
	} {
		t.Run(name, func(t *testing.T) {
			following(t, func(t *testing.T, fw *follow) {
				fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(5).Pod)
				synctest.Wait()
				end(fw.pods)
				time.Sleep(longestPause)
				if got := fw.last(); !got.Gone || got.Cause.Code != cause.PodDeleted {
					t.Errorf("%+v, want gone", got)
				}
			})
		})
	}
}

func TestNoOlderStateAfterANewerOne(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady).Version(10).Pod)
		fw.pods.modify(watchtest.NewPod("web", "1").Version(9).Pod)
		if got := fw.stages(); !slices.Equal(got, []v1.Stage{v1.StageRunning}) {
			t.Errorf("stages %v", got)
		}
		// A list from a server that is behind neither turns back nor removes.
		fw.pods.set(func(s *server) { s.oldest, s.held.ResourceVersion = 100, "4" })
		fw.pods.live.Stop()
		time.Sleep(longestPause)
		if lists, _ := fw.pods.requests(); lists == 0 {
			t.Error("nothing was listed")
		}
		if got := fw.last(); got.Stage != v1.StageRunning {
			t.Errorf("stage %s after an older list", got.Stage)
		}
	})
}

func TestOnlyTheExpectedPodCounts(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		old := watchtest.NewPod("web", "old", watchtest.OnNode, watchtest.Deleting)
		fw.pods.add(old.Version(1).Pod)
		if got := fw.last().Stage; got != v1.StageTerminating {
			t.Fatalf("stage %s, want the old pod's", got)
		}
		fw.f.Expect("new")
		fw.pods.remove(old.Version(2).Pod)
		if got := fw.last(); got.Gone || got.Stage != v1.StageUnknown {
			t.Errorf("%s, gone %t: the old pod's end counts", got.Stage, got.Gone)
		}
		fw.pods.add(watchtest.NewPod("web", "new", watchtest.OnNode).Version(3).Pod)
		if got := fw.last().Stage; got != v1.StageStarting {
			t.Errorf("stage %s, want the new pod's", got)
		}
		fw.pods.remove(watchtest.NewPod("web", "new", watchtest.OnNode).Version(4).Pod)
		if got := fw.last(); !got.Gone || got.Verdict() != v1.VerdictGone {
			t.Errorf("%+v, want gone", got)
		}
	})
}

func TestAnExpectedPodThatIsNotListedIsGone(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		fw.f.Expect("1")
		fw.pods.forget(9)
		fw.pods.live.Stop()
		time.Sleep(longestPause)
		if got := fw.last(); !got.Gone {
			t.Errorf("%+v, want gone", got)
		}
	})
}

func TestWaitGone(t *testing.T) {
	for name, test := range map[string]struct {
		say   func(*server)
		after time.Duration
		lists int
	}{
		"deleted while watched": {say: func(s *server) {
			s.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(1).Pod)
			time.Sleep(20 * time.Second)
			s.remove(watchtest.NewPod("web", "1", watchtest.OnNode).Version(2).Pod)
		}, after: 20 * time.Second},
		"gone before the watch": {say: func(*server) {}, after: appearTime, lists: 1},
	} {
		t.Run(name, func(t *testing.T) {
			following(t, func(t *testing.T, fw *follow) {
				began := time.Now()
				go test.say(fw.pods)
				if err := fw.f.WaitGone(t.Context(), "1"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != test.after {
					t.Errorf("took %s, want %s", took, test.after)
				}
				if lists, _ := fw.pods.requests(); lists != test.lists {
					t.Errorf("%d lists, want %d", lists, test.lists)
				}
			})
		})
	}
}

func TestUnavailabilityIsWaitedOut(t *testing.T) {
	for name, refuse := range map[string]error{"an answer": errors.New("starting"), "no server": refused()} {
		t.Run(name, func(t *testing.T) {
			following(t, func(t *testing.T, fw *follow) {
				fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(5).Pod)
				fw.pods.bookmark("6")
				synctest.Wait()
				fw.pods.set(func(s *server) { s.refuse = refuse })
				fw.pods.live.Stop()
				time.Sleep(10 * time.Minute)
				lists, watches := fw.pods.requests()
				if attempts := lists + watches; attempts < 20 || attempts > 100 {
					t.Errorf("%d attempts in ten minutes", attempts)
				}
				fw.pods.set(func(s *server) { s.refuse = nil })
				fw.pods.forget(9, watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady).Version(7).Pod)
				time.Sleep(2 * longestPause)
				if got := fw.last().Stage; got != v1.StageRunning {
					t.Errorf("stage %s once the server is back", got)
				}
			})
		})
	}
}

func TestRefusalsAreErrorsAtOnce(t *testing.T) {
	resource := schema.GroupResource{Resource: "events"}
	forbidden := apierrors.NewForbidden(resource, "", errors.New(`User "eve" cannot watch`))
	t.Run("when opening", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, err := Open(t.Context(), web, PodSource(newServer(), "dev", "web"),
				EventSource(&server{refuse: forbidden}, "dev", watch.KindPod, "web"))
			checkForbidden(t, err)
		})
	})
	t.Run("later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fw := start(t, t.Context())
			fw.run(t.Context())
			fw.events.set(func(s *server) { s.refuse = forbidden })
			fw.events.live.Stop()
			checkForbidden(t, <-fw.ended)
			fw.f.Close()
		})
	})
}

// An API server that has just been started does not know its roles yet.
func TestARefusalAfterARestartPasses(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", errors.New("no role yet"))
	synctest.Test(t, func(t *testing.T) {
		fw := start(t, t.Context())
		fw.run(t.Context())
		fw.events.set(func(s *server) { s.refuse = forbidden })
		fw.events.live.Stop()
		time.Sleep(2 * time.Second)
		fw.events.set(func(s *server) { s.refuse = nil })
		time.Sleep(refusalPatience)
		synctest.Wait()
		select {
		case err := <-fw.ended:
			t.Errorf("it ended: %v", err)
		default:
		}
		fw.f.Close()
	})
}

func checkForbidden(t *testing.T, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.PermissionDenied {
		t.Fatalf("error %v", err)
	}
	for _, word := range []string{"events", "dev"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestAnUnreachableServerIsNotWaitedForWhenOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		busy := apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "get", schema.GroupResource{}, "",
			"starting", 0, true)
		_, err := Open(t.Context(), web, PodSource(&server{refuse: busy}, "dev", "web"))
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took < openPatience || took > 3*openPatience {
			t.Errorf("gave up after %s", took)
		}
	})
}

func TestEventsAndWarningsAreHandedOutOnce(t *testing.T) {
	following(t, func(t *testing.T, fw *follow) {
		e := watchtest.Event("web", "1", "app", "Unhealthy",
			"Readiness probe failed: HTTP probe failed with statuscode: 503").Warn()
		fw.events.add(e.Version(1).Event) // before its pod is known
		fw.events.add(watchtest.Event("web", "other", "app", "Unhealthy", "of another pod").Warn().Version(2).Event)
		if got := fw.changes(); len(got) != 1 || got[0].Changed || len(got[0].Objects)+len(got[0].Warnings) != 0 {
			t.Fatalf("%+v before there is a pod", got)
		}
		fw.pods.add(watchtest.NewPod("web", "1", watchtest.OnNode).Version(3).Pod)
		synctest.Wait()
		fw.events.modify(e.Times(2).Version(4).Event)
		fw.events.modify(e.Times(2).Version(5).Event)
		var objects, warnings []int
		for _, c := range fw.changes() {
			for _, o := range c.Objects {
				objects = append(objects, o.Count)
			}
			for _, w := range c.Warnings {
				warnings = append(warnings, w.Count)
			}
		}
		if !slices.Equal(objects, []int{1, 2}) || !slices.Equal(warnings, []int{1, 2}) {
			t.Errorf("events %v and warnings %v, want each twice", objects, warnings)
		}
	})
}

func TestARunCanGoOnWhereAnotherStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fw := start(t, t.Context())
		fw.pods.add(watchtest.NewPod("web", "1").Version(1).Pod)
		fw.pods.modify(watchtest.NewPod("web", "1", watchtest.OnNode).Version(2).Pod)
		fw.pods.modify(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady).Version(3).Pod)
		synctest.Wait()
		// The last of them finds nothing new, and gets what is known.
		for _, want := range []v1.Stage{v1.StageScheduling, v1.StageStarting, v1.StageRunning, v1.StageRunning} {
			err := fw.f.Run(t.Context(), cause.DefaultPolicy(), time.Now, func(c Change) bool {
				if c.Snapshot.Stage != want {
					t.Errorf("stage %s, want %s", c.Snapshot.Stage, want)
				}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		fw.f.Close()
	})
}

func TestAListOfTheCallersIsWhereTheWatchBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newServer()
		source := PodSource(pods, "dev", "web")
		source.Listed, source.Version = []runtime.Object{watchtest.NewPod("web", "1", watchtest.OnNode).Version(3).Pod},
			"7"
		f, err := Open(t.Context(), web, source)
		if err != nil {
			t.Fatal(err)
		}
		if got := pods.watches[0].ResourceVersion; got != "7" {
			t.Errorf("watch from %q", got)
		}
		if pod, _ := f.State().Pod(); pod == nil {
			t.Error("the listed pod is not known")
		}
		f.Close()
	})
}
