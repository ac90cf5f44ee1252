package copy

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"time"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/fault"
)

// Archive writes what is in a directory as a tar stream, and returns when that is complete.
type Archive func(ctx context.Context, to io.Writer) error

// Runner is the other end of a Receive that sends this archive instead of what a tar would.
func (a Archive) Runner() exec.Runner {
	return func(ctx context.Context, _ []string, s exec.Session) (int, error) {
		return 0, a.send(ctx, s.Stdout)
	}
}

// send puts the directory itself in front, which an archive need not have: what is
// received has to be in a directory that was sent before it.
func (a Archive) send(ctx context.Context, to io.Writer) error {
	itself := &tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: defaultDir}
	if err := tar.NewWriter(to).WriteHeader(itself); err != nil {
		return err
	}
	return a(ctx, to)
}

// Contents is what Receive.From is for an Archive: all that is in it.
const Contents = "/."

// defaultDir is the mode of a directory that is made for the contents of an archive.
const defaultDir = 0o755

// Relay is a copy of an archive to the other end, with what a Receive checks.
type Relay struct {
	Run  exec.Runner
	From Archive
	To   string
	// OutsideLinks keeps symbolic links that lead out of what is copied.
	OutsideLinks bool
	Meter        *Meter
}

// Do copies. If that fails, what is at the destination is as it was; only where it is
// added to a directory that is there, some files may be the new ones already.
func (r Relay) Do(ctx context.Context) (Result, error) {
	t := transfer{run: r.Run, to: r.To, meter: r.Meter, pack: func(out io.Writer, format tar.Format) error {
		return r.relay(ctx, out, format)
	}}
	return t.send(ctx, script(receiveScript, r.To, ".", string(kindContents), token(), fmt.Sprintf("%o", defaultDir)))
}

// relay reads the archive and writes what is to arrive.
func (r Relay) relay(ctx context.Context, out io.Writer, format tar.Format) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, writer := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = writer.CloseWithError(r.From.send(ctx, writer))
	}()
	f := &forwarder{
		extractor: &extractor{
			from: source{base: "."}, links: r.OutsideLinks, meter: r.Meter, dirs: map[string]attributes{},
		},
		in: tar.NewReader(bufio.NewReaderSize(reader, copyBuffer)), out: tar.NewWriter(out), format: format,
		seed: maphash.MakeSeed(), sent: map[uint64]struct{}{},
	}
	err := f.all()
	if err == nil {
		err = drain(reader) // what follows an archive may be why it is not complete
	}
	cancel()
	_ = reader.CloseWithError(err)
	<-sent
	if err != nil {
		return err
	}
	return complete(f.out, f.format) // only now: by this the other end knows that it has everything
}

// forwarder reads the entries of a stream and writes them as the other end expects them:
// in the tree, and directories again when they are complete.
type forwarder struct {
	*extractor
	in     *tar.Reader
	out    *tar.Writer
	format tar.Format
	// sent are the names of all entries, as hashes: in the place of what was sent before,
	// a tar may follow a link, or make one of a directory.
	seed maphash.Seed
	sent map[uint64]struct{}
}

func (f *forwarder) all() error {
	for {
		header, err := f.in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return f.end()
		case err != nil:
			return streamFault(err)
		}
		if err := f.forward(header); err != nil {
			return err
		}
	}
}

// forward checks one entry as it is checked on this machine, and writes it.
func (f *forwarder) forward(header *tar.Header) error {
	f.entries++
	if f.entries > maxEntries {
		return fault.New(fault.Failed, "more than %d files at once", maxEntries)
	}
	name, err := f.admit(header, f.once)
	if err != nil || name == "" {
		return err
	}
	return f.pass(name, header)
}

// once checks an entry, and refuses one of a name that was sent before.
func (f *forwarder) once(name string, header *tar.Header) error {
	if err := f.check(name, header); err != nil {
		return err
	}
	if _, made := f.dirs[name]; made && name == tree && header.Typeflag == tar.TypeDir {
		return nil // it is put in front of every archive
	}
	hash := maphash.String(f.seed, name)
	if _, twice := f.sent[hash]; twice {
		return refuse(header.Name, "its name was sent before")
	}
	f.sent[hash] = struct{}{}
	return nil
}

// pass writes an entry that was checked.
func (f *forwarder) pass(name string, header *tar.Header) error {
	mode := fs.FileMode(header.Mode) & keptModes
	h := &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), ModTime: f.time(header.ModTime),
		Format: f.format,
	}
	switch header.Typeflag {
	case tar.TypeDir:
		if _, known := f.dirs[name]; known {
			return nil
		}
		f.dirs[name] = attributes{mode, header.ModTime}
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, name+"/", int64(mode|0o700)
		return f.out.WriteHeader(h)
	case tar.TypeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, header.Linkname
		return f.out.WriteHeader(h)
	case tar.TypeLink:
		old, err := f.from.within(header.Linkname)
		if err != nil {
			return err
		}
		f.meter.Files.Add(1)
		h.Typeflag, h.Linkname = tar.TypeLink, old
		return f.out.WriteHeader(h)
	}
	h.Size = header.Size
	if err := f.out.WriteHeader(h); err != nil {
		return err
	}
	if _, err := io.CopyBuffer(struct{ io.Writer }{metered{f.out, f.meter}}, onlyReader{f.in},
		make([]byte, copyBuffer)); err != nil {
		return streamFault(err)
	}
	f.meter.Files.Add(1)
	return nil
}

// time is a time as the format has it.
func (f *forwarder) time(t time.Time) time.Time {
	if f.format == tar.FormatGNU {
		return t.Truncate(time.Second)
	}
	return t
}

// end writes directories again, the deepest first: nothing is written to them any more.
func (f *forwarder) end() error {
	if len(f.refused) > 0 {
		return f.refusal()
	}
	for _, name := range f.deepestFirst() {
		a := f.dirs[name]
		if name == tree {
			a.mode |= 0o700 // the other end looks into it
		}
		h := &tar.Header{
			Typeflag: tar.TypeDir, Name: name + "/", Mode: int64(a.mode), ModTime: f.time(a.time),
			Format: f.format,
		}
		if err := f.out.WriteHeader(h); err != nil {
			return err
		}
	}
	return f.out.Flush()
}
