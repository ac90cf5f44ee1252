package serve

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// audit is what an audit line says: who, what, from where, how it ended, how long it took. When is the time of the
// line. Never a token, and nothing that was typed.
func audit(r *http.Request, user User, access Access, answer *recorder, took time.Duration) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("user", fault.Line(user.Username)),
		slog.String("access", fault.Line(access.String())),
	}
	if n, ok := r.Context().Value(notesKey{}).(*notes); ok {
		attrs = append(attrs, n.attrs...)
	}
	attrs = append(attrs,
		slog.String("method", r.Method),
		slog.String("from", r.RemoteAddr),
		slog.Int("status", answer.status()),
		slog.Int64("bytes", answer.bytes),
		slog.Duration("took", took),
	)
	if answer.failed != nil {
		attrs = append(attrs, slog.String("broken", fault.Line(answer.failed.Error())))
	}
	return attrs
}

// notes are what a handler knows about a request that its audit line says.
type notes struct{ attrs []slog.Attr }

type notesKey struct{}

// Noted is a request whose audit line says more than what it takes.
func Noted(r *http.Request, attrs ...slog.Attr) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), notesKey{}, &notes{attrs}))
}

// Note adds to the audit line of a request that is Noted. It is called while that is handled, and by its handler alone.
func Note(ctx context.Context, attr slog.Attr) {
	if n, ok := ctx.Value(notesKey{}).(*notes); ok {
		n.attrs = append(n.attrs, attr)
	}
}

// host is the address of a caller without the port.
func host(address string) string {
	if name, _, err := net.SplitHostPort(address); err == nil {
		return name
	}
	return address
}

// recorder notes how a request was answered.
type recorder struct {
	http.ResponseWriter
	code   int
	bytes  int64
	failed error
}

func (r *recorder) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

// Write counts.
func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	if err != nil {
		r.failed = err
	}
	return n, err
}

// Hijack notes that the connection is the handler's from now on.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil && r.code == 0 {
		r.code = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
