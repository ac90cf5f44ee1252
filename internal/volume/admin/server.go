package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Config is what is served.
type Config struct {
	Node volume.Node
	// Audit is told of each restore and each purge when it ended; it may be called several times at once.
	Audit func(Audited)
	Now   func() time.Time
}

const (
	headerTime = 10 * time.Second
	idleTime   = time.Minute
	stopTime   = 5 * time.Second
)

// Serve answers on a listener until the context ends, and closes it. The end of the
// context is no error; what is being archived then ends with it.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathPicture, c.picture)
	mux.HandleFunc("GET "+pathArchive, c.audited(Restore, c.archive))
	mux.HandleFunc("DELETE "+pathVolume, c.audited(Purge, c.purge))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fault.New(fault.Internal, "%s is not served any more: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil {
		return server.Close()
	}
	return nil
}

func (c Config) picture(w http.ResponseWriter, r *http.Request) {
	picture, err := c.Node.Picture(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(picture) // the client is gone otherwise
}

// archive sends the files of a volume. How it failed after it began is said behind them.
func (c Config) archive(w http.ResponseWriter, r *http.Request, id string) (int64, error) {
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Trailer", trailerFailure)
	to := &paced{w: w, control: http.NewResponseController(w), now: c.Now}
	err := c.Node.Archive(r.Context(), id, to)
	if err != nil && r.Context().Err() != nil {
		err = fault.New(fault.Unavailable,
			"volume %s was not sent to its end: the driver is ending, or nobody reads any more", id)
	}
	switch {
	case err == nil:
	case to.bytes == 0 && to.err == nil:
		w.Header().Del("Trailer")
		fail(w, err)
	case to.err == nil:
		w.Header().Set(trailerFailure, FailureOf(err).Trailer())
	}
	return to.bytes, err
}

func (c Config) purge(w http.ResponseWriter, r *http.Request, id string) (int64, error) {
	err := c.Node.Purge(r.Context(), id)
	if err != nil {
		fail(w, err)
		return 0, err
	}
	w.WriteHeader(http.StatusNoContent)
	return 0, nil
}

func fail(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(Status(fault.CodeOf(err)))
	_, _ = io.WriteString(w, FailureOf(err).Text()) // the client is gone otherwise
}

// paced is an answer whose reader has a time for each piece.
type paced struct {
	w       io.Writer
	control *http.ResponseController
	now     func() time.Time
	bytes   int64
	err     error
}

// Write sends a piece.
func (p *paced) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(p.now().Add(stall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := p.w.Write(b)
	p.bytes += int64(n)
	if err != nil {
		p.err = err
	}
	return n, err
}

// What is audited.
const (
	Restore = "restore"
	Purge   = "purge"
)

// Audited is one restore or purge.
type Audited struct {
	Did    string
	Volume string
	// Claimed is the user that the client says it asks for. Nobody has verified that: the audit log of the
	// API server says who runs commands in the driver's pod.
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
