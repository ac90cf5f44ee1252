package copy

import (
	"archive/tar"
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

// Send is a copy from this machine to the other end.
type Send struct {
	Run      exec.Runner
	From, To string
	Meter    *Meter
}

// Do copies. If that fails, what is at the destination is as it was; only where a
// directory is added to one that is there, some files may be the new ones already.
func (s Send) Do(ctx context.Context) (Result, error) {
	dir, base, k, err := sourcePath(s.From)
	if err != nil {
		return Result{}, err
	}
	found, err := newScan(dir, base, k)
	if err != nil {
		return Result{}, err
	}
	defer found.root.Close()
	s.Meter.TotalBytes.Store(found.bytes)
	if len(found.items) > maxEntries {
		return Result{}, fault.New(fault.Failed, "more than %d files at once", maxEntries).WithHint("copy parts of it")
	}
	mode := fmt.Sprintf("%o", found.items[0].info.Mode().Perm())
	t := transfer{run: s.Run, to: s.To, meter: s.Meter, pack: func(out io.Writer, format tar.Format) error {
		return (&packer{scan: found, out: out, format: format, meter: s.Meter}).all()
	}}
	return t.send(ctx, script(receiveScript, s.To, base, string(k), token(), mode))
}

// transfer is a stream that the other end receives.
type transfer struct {
	run   exec.Runner
	to    string
	meter *Meter
	// pack writes the stream in a format that the other end can read.
	pack func(out io.Writer, format tar.Format) error
}

// send runs the script of the other end and talks to it: it says that it is ready, gets
// the stream, and says what became of it.
func (s transfer) send(ctx context.Context, command []string) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, toScript := io.Pipe()
	fromScript, out := io.Pipe()
	script := make(chan *ending, 1)
	go func() {
		e := ended(ctx, s.run, command, exec.Session{Stdin: in, Stdout: out})
		_ = in.CloseWithError(errEnded)
		_ = out.Close()
		script <- e
	}()
	path, err := s.talk(toScript, bufio.NewReader(fromScript))
	_ = toScript.Close() // without the last entry, the other end drops what it has
	_ = fromScript.Close()
	e := <-script
	warnings, failed := e.failure(cmp.Or(s.to, "the home directory"))
	switch {
	case err != nil && !errors.Is(err, errEnded):
		return Result{}, err
	case failed != nil:
		return Result{}, failed
	case err != nil:
		return Result{}, fault.New(fault.Failed, "the other end has ended before it had everything")
	}
	return s.meter.result(path, warnings), nil
}

// errEnded says that the other end has ended: what it ended with says why.
var errEnded = errors.New("the other end has ended")

// maxAnswer is how much the script may say.
const maxAnswer = 64 << 10

// talk sends everything when the other end is ready, and returns where that is then.
func (s transfer) talk(to io.WriteCloser, from *bufio.Reader) (path string, err error) {
	answer, err := from.ReadSlice('\n')
	words := strings.Fields(string(answer))
	switch {
	case err != nil && len(answer) == 0:
		return "", errEnded
	case err != nil || len(words) != 2 || words[0] != "ready":
		return "", fault.New(fault.Failed, "the shell of the other end says %q", answer)
	}
	buffered := bufio.NewWriterSize(to, copyBuffer)
	stopped := make(chan struct{})
	go func() { // nothing is said before all is sent, unless it has failed
		defer close(stopped)
		_, _ = from.Peek(1)
		_ = to.Close()
	}()
	if err = s.pack(buffered, formatOf(words[1] == "gnu")); err == nil {
		err = buffered.Flush()
	}
	switch {
	case errors.Is(err, io.ErrClosedPipe):
		return "", errEnded
	case err != nil:
		return "", err
	}
	if err := to.Close(); err != nil {
		return "", err
	}
	<-stopped
	rest, err := io.ReadAll(io.LimitReader(from, maxAnswer))
	return string(rest), err
}
