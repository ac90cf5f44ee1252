package remotefs

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/internal/exec"
)

// Serve serves SFTP on a stream, until that ends. Relative paths begin in the home directory.
func Serve(ctx context.Context, run exec.Runner, stream io.ReadWriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, in, out, err := start(ctx, run)
	if err != nil {
		return err
	}
	defer in.Close()
	if s == nil { // the place has a server
		go func() {
			_, _ = io.Copy(in, stream)
			_ = in.Close()
		}()
		_, err := io.Copy(stream, out)
		return err
	}
	f := &files{shell: s, ctx: ctx, open: map[string]*writer{}, known: map[string]bool{}}
	server := sftp.NewRequestServer(stream,
		sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: f},
		sftp.WithStartDirectory(s.home), sftp.WithRSAllocator())
	if err := server.Serve(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// files are those of a place, as the server of the library asks for them.
type files struct {
	*shell
	ctx context.Context //nolint:containedctx // of the connection: what is read goes on between requests

	writing sync.Mutex
	open    map[string]*writer // whose content may not be in the place yet, by their paths
	known   map[string]bool    // directories in which files were opened
}

// settled sees to it that what was written is in the place before it is asked about.
func (f *files) settled(paths ...string) {
	f.writing.Lock()
	var all []*writer
	for at, w := range f.open {
		for _, p := range paths {
			if at == p || strings.HasPrefix(at, strings.TrimSuffix(p, "/")+"/") {
				all = append(all, w)
				break
			}
		}
	}
	f.writing.Unlock()
	for _, w := range all {
		w.settle()
	}
}

// Filelist implements sftp.FileLister: what is in a directory, or at a path.
func (f *files) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	f.settled(r.Filepath)
	if r.Method == "List" {
		all, err := f.list(r.Filepath)
		return listing(all), err
	}
	i, err := f.stat("follow", r.Filepath)
	return listing{i}, err
}

// Lstat implements sftp.LstatFileLister.
func (f *files) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	f.settled(r.Filepath)
	i, err := f.stat("look", r.Filepath)
	return listing{i}, err
}

// Readlink implements sftp.ReadlinkFileLister.
func (f *files) Readlink(at string) (to string, err error) {
	err = f.ask(nil, func(_ []string, r *bufio.Reader) (err error) {
		to, err = readUntilNUL(r)
		return err
	}, "target", at)
	return to, err
}

// listing is a list that is given out in pieces.
type listing []fs.FileInfo

// ListAt implements sftp.ListerAt.
func (l listing) ListAt(to []fs.FileInfo, offset int64) (int, error) {
	if offset >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(to, l[offset:])
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

// Filecmd implements sftp.FileCmder: everything but reading, writing and looking.
func (f *files) Filecmd(r *sftp.Request) error {
	if r.Method != "Setstat" {
		f.settled(r.Filepath, r.Target)
	}
	switch r.Method {
	case "Setstat":
		return f.setstat(r)
	case "Rename":
		return f.do("move", r.Filepath, r.Target, "")
	case "Rmdir":
		return f.do("unlink_directory", r.Filepath)
	case "Mkdir":
		return f.do("directory", r.Filepath, octal(r))
	case "Link":
		return f.do("hard_link", r.Filepath, r.Target)
	case "Symlink":
		return f.do("symbolic_link", r.Filepath, r.Target)
	case "Remove":
		return f.do("unlink_file", r.Filepath)
	}
	return sftp.ErrSSHFxOpUnsupported
}

// PosixRename implements sftp.PosixRenameFileCmder.
func (f *files) PosixRename(r *sftp.Request) error {
	f.settled(r.Filepath, r.Target)
	return f.do("move", r.Filepath, r.Target, "over")
}

// octal is the mode with which something is to be made; empty for none. The library keeps what follows the flags of the
// attributes: a mode alone, as all clients send it, has four bytes.
func octal(r *sftp.Request) string {
	if len(r.Attrs) != 4 {
		return ""
	}
	return strconv.FormatUint(uint64(binary.BigEndian.Uint32(r.Attrs)&0o7777), 8)
}

// setstat sets attributes. Those of a file that is being written are set after its content.
func (f *files) setstat(r *sftp.Request) error {
	flags, a := r.AttrFlags(), r.Attributes()
	args := make([]string, 6)
	args[0] = r.Filepath
	if flags.Size {
		args[1] = strconv.FormatUint(a.Size, 10)
	}
	if flags.Permissions {
		args[2] = strconv.FormatUint(uint64(a.Mode&0o7777), 8)
	}
	if flags.UidGid {
		args[3] = fmt.Sprintf("%d:%d", a.UID, a.GID)
	}
	if flags.Acmodtime {
		args[4], args[5] = strconv.FormatUint(uint64(a.Atime), 10), strconv.FormatUint(uint64(a.Mtime), 10)
	}
	f.writing.Lock()
	w := f.open[r.Filepath]
	f.writing.Unlock()
	if w != nil {
		if flags.Size && w.cut(a.Size) {
			if args[1] = ""; !slices.ContainsFunc(args[1:], isSet) {
				return nil
			}
		}
		if args[1] != "" {
			w.content() // what else is set is not yet: a read-only file cannot be cut
		} else if w.later(args) {
			return nil
		}
	}
	return f.do("set_attributes", args...)
}

func isSet(arg string) bool { return arg != "" }

// StatVFS implements sftp.StatVFSFileCmder.
func (f *files) StatVFS(r *sftp.Request) (v *sftp.StatVFS, err error) {
	err = f.ask(nil, func(words []string, _ *bufio.Reader) error {
		if len(words) != 8 {
			return fmt.Errorf("a file system that is not understood: %.100q", words)
		}
		var n [8]uint64
		for i, word := range words {
			n[i], _ = strconv.ParseUint(word, 10, 64) // some images print what they do not know
		}
		v = &sftp.StatVFS{
			Bsize: n[0], Frsize: n[1], Blocks: n[2], Bfree: n[3], Bavail: n[4], Files: n[5], Ffree: n[6], Favail: n[6],
			Namemax: n[7],
		}
		return nil
	}, "filesystem", r.Filepath)
	return v, err
}
