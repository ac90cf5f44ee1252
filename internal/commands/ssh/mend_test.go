package ssh

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// What keeps a workspace from being entered is helped by one command, if it can be, and that command is said.
func TestMend(t *testing.T) {
	because := func(reason string) error { return fault.New(fault.Failed, "it is not there").WithReason(reason) }
	for _, test := range []struct {
		name   string
		starts bool
		first  error // of the first looks
		runs   error // how the command ends
		last   error // of the look after it
		ran    string
		says   string
		want   string // the error
	}{
		{name: "it runs"},
		{name: "it starts", first: because(pod.ReasonNotRunning), ran: "exec -- true", says: "is not ready yet"},
		{
			name: "its workload has no pod yet", first: because(inventory.ReasonNoPod), ran: "exec -- true",
			says: "is not ready yet",
		},
		{
			name: "it is stopped", first: because(cmdutil.ReasonStopped), last: errors.New("unused"),
			want: "it is not there",
		},
		{
			name: "it is stopped, and started", starts: true, first: because(cmdutil.ReasonStopped), ran: "start",
			says: "is stopped",
		},
		{
			name: "its pod was deleted", first: because(inventory.ReasonPodGone), last: errors.New("unused"),
			want: "it is not there",
		},
		{
			name: "its pod was deleted, and it is started", starts: true, first: because(inventory.ReasonPodGone),
			ran: "start", says: "has no pod",
		},
		{name: "its pod is over", starts: true, first: because(pod.ReasonEnded), ran: "start", says: "is stopped"},
		{name: "it does not exist", starts: true, first: fault.New(fault.NotFound, "nowhere"), want: "nowhere"},
		{
			name: "it fails", first: because(pod.ReasonNotRunning), runs: errors.New("no image"),
			last: because(pod.ReasonNotRunning),
			ran:  "exec -- true", says: "is not ready yet", want: "no image",
		},
		{
			name: "it has no program true", first: because(pod.ReasonNotRunning), runs: errors.New("status 127"),
			ran: "exec -- true", says: "is not ready yet",
		},
		{
			name: "it is deleted meanwhile", first: because(pod.ReasonNotRunning),
			last: fault.New(fault.NotFound, "gone"),
			ran:  "exec -- true", says: "is not ready yet", want: "gone",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ran []string
			m := newMender(test.starts, func(
				_ context.Context, of Name, _ func(string), verb string, arguments ...string,
			) error {
				ran = slices.Concat(ran, []string{verb}, arguments)
				if of.Workspace != "alice" {
					t.Error(of)
				}
				return test.runs
			})
			said := ""
			err := m.until(t.Context(), Name{Workspace: "alice"}, func(text string) { said += text }, func() error {
				if len(ran) == 0 {
					return test.first
				}
				return test.last
			})
			got := ""
			if err != nil {
				got = fault.From(err).Message
			}
			if strings.Join(ran, " ") != test.ran || got != test.want || !strings.Contains(said, test.says) ||
				test.says == "" && said != "" {
				t.Errorf("ran %q, said %q, ends with %q", ran, said, got)
			}
		})
	}
}

// A channel whose client has gone ends what it waits for, and no longer waits for another.
func TestMendEnds(t *testing.T) {
	starts := func() error { return fault.New(fault.Failed, "it starts").WithReason(pod.ReasonNotRunning) }
	runs := make(chan struct{}, 2)
	m := newMender(false, func(ctx context.Context, _ Name, _ func(string), _ string, _ ...string) error {
		runs <- struct{}{}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	until := func() { ended <- m.until(ctx, Name{Workspace: "alice"}, func(string) {}, starts) }
	go until()
	<-runs
	go until()
	cancel()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("it is entered")
		}
	}
}
