//go:build unix

package commands

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// The second SIGTERM of timeout(1) lets a command end as it should; another Ctrl-C
// ends it at once.
func TestSecondSignal(t *testing.T) {
	signal.Notify(make(chan os.Signal, 3), syscall.SIGTERM, syscall.SIGINT) // one that comes late ends no test
	ended := make(chan fault.Code, 3)
	ctx, stop := withSignals(t.Context(), func(code fault.Code) { ended <- code })
	defer stop()
	send := func(s syscall.Signal) {
		if err := syscall.Kill(syscall.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	send(syscall.SIGTERM)
	<-ctx.Done()
	send(syscall.SIGTERM)
	send(syscall.SIGINT)
	if code := <-ended; code != fault.Interrupted {
		t.Errorf("it was ended by %s", code)
	}
}
