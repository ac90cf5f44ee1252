package admin

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// What is audited.
const (
	Restore = "restore"
	Purge   = "purge"
)

// Audited is one restore or purge.
type Audited struct {
	Did    string
	Volume string
	// Claimed is who the client says that it asks for. Nobody has verified that: who may
	// run commands in the driver's pod, the audit log of the API server says.
	Claimed string
	Bytes   int64 // of the archive
	Took    time.Duration
	Err     error
}

// Log makes an audit line of it.
func (a Audited) Log(log *slog.Logger) {
	attrs := []any{
		slog.String("did", a.Did), slog.String("volume", fault.Line(a.Volume)),
		slog.String("claimedUser", fault.Line(a.Claimed)),
		slog.Int64("bytes", a.Bytes), slog.Duration("took", a.Took),
	}
	if a.Err != nil {
		log.Warn("audit", append(attrs, slog.String("error", fault.Line(a.Err.Error())))...)
		return
	}
	log.Info("audit", attrs...)
}

// maxClaimed is how long the name of a user may be, in bytes.
const maxClaimed = 256

// audited checks the volume that a request names, and audits what is done with it.
func (c Config) audited(what string,
	do func(w http.ResponseWriter, r *http.Request, id string) (int64, error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := Audited{
			Did: what, Volume: r.URL.Query().Get(queryID),
			Claimed: fault.Shorten(r.Header.Get(headerUser), maxClaimed),
		}
		begun := c.Now()
		if a.Err = checkID(a.Volume); a.Err != nil {
			fail(w, a.Err)
		} else {
			a.Bytes, a.Err = do(w, r, a.Volume)
		}
		a.Took = c.Now().Sub(begun)
		c.Audit(a)
	}
}

// shownID is how much is shown of what is not the ID of a volume, in bytes.
const shownID = 100

// checkID requires the ID of a volume.
func checkID(id string) error {
	switch {
	case id == "":
		return fault.New(fault.InvalidArgument, "the ID of the volume is empty")
	case !volume.IsID(id):
		return fault.New(fault.InvalidArgument, "%q is not the ID of a volume", fault.Shorten(id, shownID))
	}
	return nil
}
