package exec

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"io"
	"net"
	"strings"
	"unicode"

	"github.com/berthdev/berth/internal/fault"
)

//go:embed relay.sh
var relayScript string

// relayReady is what the script says once it has connected, or found what will.
const relayReady = "berth-relay\n"

// Relay connects with an address, or with a unix socket, that is reached from where commands run, by a program that is
// there. It is an error if there is none, or, where that program says so, if the connection is refused.
func Relay(ctx context.Context, run Runner, address string, unix bool) (io.ReadWriteCloser, error) {
	arguments := []string{"unix", address}
	if !unix {
		host, port, err := net.SplitHostPort(address)
		if err == nil && !isHost(host) {
			err = fault.New(fault.InvalidArgument, "%q is no host name or address", host)
		}
		if err != nil {
			return nil, err
		}
		arguments = []string{"tcp", host, port}
	}
	ctx, cancel := context.WithCancel(ctx)
	in, send := io.Pipe()
	receive, out := io.Pipe()
	said := &Beginning{Max: 1000}
	go func() {
		status, err := run(ctx, append([]string{"/bin/sh", "-c", relayScript, "sh"}, arguments...),
			Session{Stdin: in, Stdout: out, Stderr: said})
		if err == nil && status != 0 {
			err = notConnected(said.String(), status)
		}
		_ = in.CloseWithError(io.ErrClosedPipe)
		_ = out.CloseWithError(err)
	}()
	c := &relayed{PipeReader: receive, send: send, cancel: cancel}
	ready := make([]byte, len(relayReady))
	if _, err := io.ReadFull(receive, ready); err != nil || string(ready) != relayReady {
		_ = c.Close()
		if why := strings.TrimSpace(said.String()); why != "" {
			return nil, fault.New(fault.Failed, "%s", why)
		}
		return nil, fault.New(fault.Failed, "cannot connect from there: %w",
			cmp.Or(err, errors.New("another program answers")))
	}
	return c, nil
}

// notConnected is why a program has not connected, in its own last words if it had any.
func notConnected(said string, status int) error {
	if why := strings.TrimSpace(said); why != "" {
		return fault.New(fault.Failed, "%s", why[strings.LastIndexByte(why, '\n')+1:])
	}
	return fault.New(fault.Failed, "the program that connects has ended with status %d", status)
}

// isHost is true for what programs take for a host, and for nothing else, such as a flag.
func isHost(host string) bool {
	for _, r := range host {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_:%", r) {
			return false
		}
	}
	return host != "" && host[0] != '-'
}

// relayed is a connection through a program.
type relayed struct {
	*io.PipeReader
	send   *io.PipeWriter
	cancel context.CancelFunc
}

func (r *relayed) Write(p []byte) (int, error) { return r.send.Write(p) }

// CloseWrite ends what is sent.
func (r *relayed) CloseWrite() error { return r.send.Close() }

// Close ends both ways.
func (r *relayed) Close() error {
	r.cancel()
	return errors.Join(r.send.Close(), r.PipeReader.Close())
}
