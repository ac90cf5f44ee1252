package copy

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

// Receive is a copy from the other end to this machine.
type Receive struct {
	Run      exec.Runner
	From, To string
	// OutsideLinks keeps symbolic links that lead out of what is copied.
	OutsideLinks bool
	Meter        *Meter
}

// Do copies. If that fails, what is at the destination is as it was; only where a
// directory is added to one that is there, some files may be the new ones already.
func (r Receive) Do(ctx context.Context) (Result, error) {
	from := sourceOf(r.From)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reader, writer := io.Pipe()
	sending := make(chan *ending, 1)
	go func() {
		e := ended(ctx, r.Run, script(sendScript, from.dir, from.base), exec.Session{Stdout: writer})
		_ = writer.CloseWithError(io.EOF)
		sending <- e
	}()
	arrived, err := r.receive(from, reader)
	if arrived != nil {
		defer arrived.discard()
	}
	if err != nil && !errors.Is(err, errNothing) {
		cancel(err) // the other end would wait for somebody who reads
	}
	_ = reader.CloseWithError(err)
	e := <-sending
	switch warnings, failed := e.failure(""); {
	case err != nil && !errors.Is(err, errNothing) && !errors.Is(err, io.ErrUnexpectedEOF): // which is a cut
		return Result{}, err
	case failed != nil:
		return Result{}, failed
	case err != nil:
		return Result{}, fault.New(fault.Failed, "the tar of the other end has sent no complete archive")
	default:
		if err := arrived.settle(); err != nil {
			return Result{}, err
		}
		return r.Meter.result(absolute(arrived.staging.to.path()), warnings), nil
	}
}

// errNothing says that the other end has sent nothing: what it ended with says why.
var errNothing = errors.New("nothing was sent")

// arrival is what has arrived under its temporary name.
type arrival struct {
	*staging
	*extractor
}

// receive writes what is sent to a temporary directory.
func (r Receive) receive(from source, stream io.Reader) (*arrival, error) {
	archive := tar.NewReader(bufio.NewReaderSize(stream, copyBuffer))
	first, err := archive.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errNothing
	case err != nil:
		return nil, streamFault(err)
	}
	to, err := targetOf(r.To, filepath.FromSlash(from.name), kindOf(first, from))
	if err != nil {
		return nil, err
	}
	s, err := stage(to)
	if err != nil {
		return nil, err
	}
	x := &extractor{root: s.root, to: to, from: from, links: r.OutsideLinks, meter: r.Meter}
	if err = x.all(first, archive); err == nil {
		err = drain(stream)
	}
	return &arrival{s, x}, err
}

// maxPadding is how much may follow an archive: tar fills its last record with zeros.
const maxPadding = 4 << 20

// drain reads what pads an archive, until the command at the other end has ended.
func drain(stream io.Reader) error {
	n, err := io.CopyN(io.Discard, stream, maxPadding)
	switch {
	case n == maxPadding:
		return fault.New(fault.Failed, "the tar of the other end does not stop after its archive")
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

func kindOf(first *tar.Header, from source) kind {
	switch {
	case from.name == "":
		return kindContents
	case first.Typeflag == tar.TypeDir:
		return kindDir
	case first.Typeflag == tar.TypeSymlink:
		return kindLink
	}
	return kindFile
}

// settle gives what has arrived its final name, and directories modes with which they could not have been moved. One
// that was there keeps its own: the other end has no say in who may read or write it.
func (a *arrival) settle() error {
	locked := a.locked()
	if err := a.place(); err != nil {
		return err
	}
	for _, name := range locked {
		if a.merged[filepath.ToSlash(a.staging.to.final(name))] {
			continue
		}
		if err := a.at.Chmod(a.staging.to.final(name), a.dirs[name].mode); err != nil {
			return a.cannotWrite(name, err)
		}
	}
	return nil
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
