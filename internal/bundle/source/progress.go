package source

import (
	"io"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

const progressPeriod = 100 * time.Millisecond

// Watch reports how much has been read of r, at its beginning, at its end and now and
// then. A total of 0 is unknown.
func (f Fetcher) Watch(message string, r io.Reader, total int64) io.Reader {
	f.tell(v1.Progress{Message: message, Total: total})
	return &watched{r: r, tell: f.tell, progress: v1.Progress{Message: message, Total: total}, at: time.Now()}
}

func (f Fetcher) tell(p v1.Progress) {
	if f.Progress != nil {
		f.Progress(p)
	}
}

type watched struct {
	r        io.Reader
	tell     func(v1.Progress)
	progress v1.Progress
	at       time.Time
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.progress.Done += int64(n)
	if now := time.Now(); err != nil || now.Sub(w.at) >= progressPeriod {
		w.at = now
		w.tell(w.progress)
	}
	return n, err
}
