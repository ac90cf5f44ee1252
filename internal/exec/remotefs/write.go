package remotefs

import (
	"bufio"
	"cmp"
	"io"
	"path"
	"strconv"
	"sync"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/internal/exec"
)

// writer writes a file. A small one is written with one command when it is closed, or when somebody asks what is there;
// of a larger one, what is written in order goes to a command of its own.
type writer struct {
	*files
	path, mode string
	which      string // new, old, any or kept, as store has it
	append     bool

	mu        sync.Mutex
	made      bool // it is there
	at        int64
	held      []byte           // what was written from at on
	early     map[int64][]byte // what was written beyond that, by its offset
	earlySize int
	attrs     [][]string // are set when it is closed
	err       error
	stream    io.WriteCloser // of the command; nil while there is none
	streamed  chan error
	end       int64 // up to where it was written
}

// Filewrite implements sftp.FileWriter.
func (f *files) Filewrite(r *sftp.Request) (io.WriterAt, error) { return f.writer(r) }

func (f *files) writer(r *sftp.Request) (*writer, error) {
	f.settled(r.Filepath)
	flags := r.Pflags()
	w := &writer{files: f, path: r.Filepath, mode: octal(r), append: flags.Append, early: map[int64][]byte{}}
	switch {
	case flags.Creat && flags.Excl:
		w.which = "new"
	case flags.Creat && flags.Trunc:
		w.which = "any"
	case flags.Trunc:
		w.which = "old"
	case flags.Creat && !flags.Append && f.isKnown(r.Filepath):
		w.which = "kept" // scp opens each file so: a look at what is there would cost it a round trip
	default:
		if err := w.look(flags.Creat); err != nil {
			return nil, err
		}
		f.know(r.Filepath)
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.open[r.Filepath] = w
	return w, nil
}

// look asks for a file that has to be there, or whose end has to be known.
func (w *writer) look(create bool) error {
	i, err := w.stat("follow", w.path)
	switch {
	case err == nil && i.IsDir():
		return errno("EISDIR")
	case err == nil:
		w.made = true
		if w.append {
			w.at = i.size
		}
	case create && isNotExist(err):
		w.which = "any"
	default:
		return err
	}
	return nil
}

// isKnown is true for a file in a directory in which one was opened before. The first one is looked at, so that opening
// it fails where the directory does not exist, and the client says so once.
func (f *files) isKnown(at string) bool {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.known[path.Dir(at)]
}

// maxKnown is of how many directories it is remembered.
const maxKnown = 10_000

func (f *files) know(at string) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if len(f.known) < maxKnown {
		f.known[path.Dir(at)] = true
	}
}

// OpenFile implements sftp.OpenFileWriter: a file that is read and written.
func (f *files) OpenFile(r *sftp.Request) (sftp.WriterAtReaderAt, error) {
	w, err := f.writer(r)
	if err != nil {
		return nil, err
	}
	return &both{writer: w}, nil
}

// both reads what it has written.
type both struct{ *writer }

// ReadAt implements io.ReaderAt.
func (b *both) ReadAt(p []byte, offset int64) (int, error) {
	b.settle()
	r := &reader{files: b.files, path: b.path}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random(p, offset)
}

// later keeps attributes until the file is closed; false if it is there already.
func (w *writer) later(args []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attrs = append(w.attrs, args)
	return true
}

// maxEarly is how much may be written ahead of its turn, and in how many pieces, before the turn is not waited for any
// more.
const (
	maxEarly  = window
	maxPieces = 512
)

// WriteAt implements io.WriterAt. Several write at once, a little out of order.
func (w *writer) WriteAt(p []byte, offset int64) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if w.append {
		offset = w.at + int64(len(w.held))
	}
	w.end = max(w.end, offset+int64(len(p)))
	if w.meets(offset, len(p)) { // the later one of two counts
		w.flush()
	}
	switch next := w.at + int64(len(w.held)); {
	case offset == next:
		w.held = append(w.held, p...)
		w.catchUp()
	case offset > next && w.earlySize+len(p) <= maxEarly && len(w.early) < maxPieces:
		w.early[offset] = append([]byte(nil), p...)
		w.earlySize += len(p)
	default:
		w.flush()
		w.put(p, offset)
	}
	if len(w.held) > piece {
		w.pour()
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// meets is true if any of these bytes were written ahead of their turn.
func (w *writer) meets(offset int64, n int) bool {
	for at, p := range w.early {
		if at < offset+int64(n) && offset < at+int64(len(p)) {
			return true
		}
	}
	return false
}

// catchUp takes what was written ahead and has its turn now.
func (w *writer) catchUp() {
	for {
		next := w.at + int64(len(w.held))
		p, ok := w.early[next]
		if !ok {
			return
		}
		delete(w.early, next)
		w.earlySize -= len(p)
		w.held = append(w.held, p...)
	}
}

// pour gives what is held to a command that writes the file in order.
func (w *writer) pour() {
	if w.stream == nil {
		w.create(nil)
		if w.err != nil {
			return
		}
		in, out := io.Pipe()
		w.stream, w.streamed = out, make(chan error, 1)
		command := []string{
			"/bin/sh", "-c", `{ [ "$2" = 0 ] || dd bs=1 seek="$2" count=0 conv=notrunc 2>/dev/null; cat; } 1<>"$1"`,
			"sh", w.path,
			strconv.FormatInt(w.at, 10),
		}
		go func(streamed chan<- error) {
			status, err := w.run(w.ctx, command, exec.Session{Stdin: in, Stderr: io.Discard})
			if err == nil && status != 0 {
				err = errno("ENOSPC")
			}
			_ = in.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // it may have ended without reading
			streamed <- err
		}(w.streamed)
	}
	n, err := w.stream.Write(w.held)
	w.at, w.held, w.err = w.at+int64(n), w.held[:0], err
}

// writable is a mode with which its owner may write; an empty one stays so. A file has its own when it is closed.
func writable(mode string) string {
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || n&0o200 != 0 {
		return mode
	}
	return strconv.FormatUint(n|0o200, 8)
}

// create makes or empties the file, with this content, if that is not done yet.
func (w *writer) create(content []byte) {
	if w.made || w.err != nil {
		return
	}
	w.made = true
	mode := writable(w.mode)
	w.err = w.ask(content, func(words []string, _ *bufio.Reader) error {
		if len(words) > 0 && words[0] == "made" && mode != w.mode {
			w.attrs = append(w.attrs, []string{w.path, "", w.mode, "", "", ""})
		}
		return nil
	}, "store", w.path, strconv.Itoa(len(content)), mode, w.which)
}

// flush puts all that is held into the place; with the end of the command, if there is one.
func (w *writer) flush() {
	if w.stream != nil {
		if len(w.held) > 0 {
			w.pour()
		}
		_ = w.stream.Close()
		if err := <-w.streamed; w.err == nil {
			w.err = err
		}
		w.stream = nil
	}
	if !w.made && w.at == 0 {
		w.create(w.held)
	} else {
		w.create(nil)
		w.put(w.held, w.at)
	}
	w.at, w.held = w.at+int64(len(w.held)), w.held[:0]
	for offset, p := range w.early {
		w.put(p, offset)
	}
	clear(w.early)
	w.earlySize = 0
}

// put writes content at an offset.
func (w *writer) put(content []byte, offset int64) {
	for len(content) > 0 && w.err == nil {
		n := min(len(content), piece)
		w.err = w.ask(content[:n], nil, "fill", w.path, strconv.FormatInt(offset, 10), strconv.Itoa(n))
		content, offset = content[n:], offset+int64(n)
	}
}

// settle puts all that was written into the place.
func (w *writer) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	w.setAttributes()
}

// cut is true for a file of which all is held, and that is to have this size: it is emptied before that is written. scp
// cuts each file that it has sent.
func (w *writer) cut(size uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.made || w.append || w.stream != nil || w.at != 0 || len(w.early) > 0 || w.err != nil ||
		uint64(len(w.held)) != size {
		return false
	}
	if w.which == "kept" {
		w.which = "any"
	}
	return true
}

// content puts the content into the place, and no attributes.
func (w *writer) content() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
}

func (w *writer) setAttributes() {
	for _, args := range w.attrs {
		if w.err == nil {
			w.err = w.do("set_attributes", args...)
		}
	}
	w.attrs = nil
}

// Close implements io.Closer. That the end of a long file has come is asked for.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	long := w.stream != nil
	w.flush()
	if long && w.err == nil {
		i, err := w.stat("follow", w.path)
		if w.err = err; err == nil && i.size < w.end && i.mode&typeMask == typeRegular {
			w.err = errno("EIO")
		}
	}
	w.setAttributes()
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.open[w.path] == w {
		delete(w.open, w.path)
	}
	return w.err
}
