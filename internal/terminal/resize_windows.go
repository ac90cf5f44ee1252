package terminal

import "time"

// resizes tells when the terminal's size may have changed: Windows has no
// signal for it, so it is measured again and again.
func resizes() (changed <-chan time.Time, stop func()) {
	ticker := time.NewTicker(250 * time.Millisecond)
	return ticker.C, ticker.Stop
}
