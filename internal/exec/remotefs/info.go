package remotefs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/pkg/sftp"
)

// info is what is known of a file.
type info struct {
	name             string
	mode             uint32 // as stat(2) has it
	size             int64
	uid, gid         uint32
	accessed, change int64 // seconds
}

// parseInfo reads the answer of stat.
func parseInfo(name string, words []string) (info, error) {
	i := info{name: name}
	if len(words) != 6 {
		return i, fmt.Errorf("attributes that are not understood: %.100q", words)
	}
	mode, err1 := strconv.ParseUint(words[0], 16, 32)
	size, err2 := strconv.ParseInt(words[1], 10, 64)
	uid, err3 := strconv.ParseUint(words[2], 10, 32)
	gid, err4 := strconv.ParseUint(words[3], 10, 32)
	accessed, err5 := strconv.ParseInt(words[4], 10, 64)
	changed, err6 := strconv.ParseInt(words[5], 10, 64)
	i.mode, i.size, i.uid, i.gid = uint32(mode), size, uint32(uid), uint32(gid)
	i.accessed, i.change = accessed, changed
	return i, errors.Join(err1, err2, err3, err4, err5, err6)
}

// Name implements fs.FileInfo, and so do the methods below.
func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Unix(i.change, 0) }
func (i info) IsDir() bool        { return i.mode&typeMask == typeDirectory }

// Sys gives the server what it sends.
func (i info) Sys() any {
	return &sftp.FileStat{
		Size: uint64(i.size), Mode: i.mode, UID: i.uid, GID: i.gid,
		Atime: uint32(i.accessed), Mtime: uint32(i.change), //nolint:gosec // as the protocol has them
	}
}

// The types of files in a mode.
const (
	typeMask      = 0o170000
	typeSocket    = 0o140000
	typeLink      = 0o120000
	typeRegular   = 0o100000
	typeBlock     = 0o060000
	typeDirectory = 0o040000
	typeCharacter = 0o020000
	typePipe      = 0o010000
)

// Mode is the mode as Go has it.
func (i info) Mode() fs.FileMode {
	mode := fs.FileMode(i.mode & 0o777)
	switch i.mode & typeMask {
	case typeDirectory:
		mode |= fs.ModeDir
	case typeLink:
		mode |= fs.ModeSymlink
	case typePipe:
		mode |= fs.ModeNamedPipe
	case typeSocket:
		mode |= fs.ModeSocket
	case typeBlock:
		mode |= fs.ModeDevice
	case typeCharacter:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if i.mode&bit != 0 {
			mode |= flag
		}
	}
	return mode
}

// stat asks what is at a path.
func (s *shell) stat(function, at string) (i info, err error) {
	err = s.ask(nil, func(words []string, _ *bufio.Reader) (err error) {
		i, err = parseInfo(path.Base(at), words)
		return err
	}, function, at)
	return i, err
}

// maxNames is how many names a directory may have, and maxNameBytes how long they may be together: more than any has
// that a client could show.
const (
	maxNames     = 1 << 20
	maxNameBytes = 64 << 20

	maxAttributes = 200 // bytes of a name, besides itself
)

// list asks what is in a directory. What has gone since its name was read is left out.
func (s *shell) list(at string) (all []fs.FileInfo, err error) {
	err = s.ask(nil, func(words []string, r *bufio.Reader) error {
		names, bytes, err := readNames(words, r)
		if err != nil {
			return err
		}
		text, err := readUntil(r, 0, bytes+len(names)*maxAttributes)
		if err != nil {
			return err
		}
		all, err = parseList(names, []byte(text))
		return err
	}, "list", at)
	return all, err
}

// readNames reads a list of names, and how long they are together.
func readNames(words []string, r *bufio.Reader) (names []string, bytes int, err error) {
	if len(words) != 1 {
		return nil, 0, errors.New("a list without its length")
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 0 || n > maxNames {
		return nil, 0, fmt.Errorf("a list of %q names", words[0])
	}
	for range n {
		name, err := readUntilNUL(r)
		if err != nil {
			return nil, 0, err
		}
		if bytes += len(name); bytes > maxNameBytes {
			return nil, 0, fmt.Errorf("a list of more than %d bytes", maxNameBytes)
		}
		names = append(names, name)
	}
	return names, bytes, nil
}

// parseList reads the attributes of names, in their order; any may be missing.
func parseList(names []string, text []byte) (all []fs.FileInfo, err error) {
	for _, name := range names {
		fields, rest := attributes(text)
		if fields == nil || !bytes.HasPrefix(rest, []byte(name+"\n")) {
			continue
		}
		base := strings.TrimPrefix(name, "./")
		if base == "" || base == "." || base == ".." || strings.Contains(base, "/") {
			return nil, fmt.Errorf("%.100q in a list of names", name)
		}
		i, err := parseInfo(base, fields)
		if err != nil {
			return nil, err
		}
		all, text = append(all, i), rest[len(name)+1:]
	}
	return all, nil
}

// attributes are the words at the beginning of a text, before a name. A place that lies may send no blank for
// megabytes: they are not looked for behind what attributes can have.
func attributes(text []byte) (words []string, rest []byte) {
	rest = text
	for range 6 {
		end := bytes.IndexByte(rest[:min(len(rest), maxAttributes)], ' ')
		if end < 0 {
			return nil, nil
		}
		words, rest = append(words, string(rest[:end])), rest[end+1:]
	}
	return words, rest
}
