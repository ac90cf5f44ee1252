package pull

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/fault"
)

// The marks by which a layer hides what is in the layers below it.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq" // everything in its directory
)

// flattener makes one set of files of layers, the uppermost first.
type flattener struct {
	files    Files
	limits   Limits
	upper    shadow
	unpacked int64
	entries  int
}

// layer takes what a layer adds to those above it, and reads it to its end.
func (f *flattener) layer(ctx context.Context, desc ocispec.Descriptor, r io.Reader) error {
	own := shadow{}
	if err := f.entriesOf(ctx, r, own); err != nil {
		return within("layer "+desc.Digest.Encoded()[:12], err)
	}
	f.upper.merge(own)
	return nil
}

func (f *flattener) entriesOf(ctx context.Context, r io.Reader, own shadow) error {
	unpacked, err := f.decompress(r)
	if err != nil {
		return err
	}
	archive := tar.NewReader(unpacked)
	for {
		header, err := archive.Next()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			// The rest counts for the digest.
			if _, err := io.Copy(io.Discard, unpacked); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r)
			return err
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return malformed(err)
		}
		f.entries++
		if f.entries > f.limits.Entries {
			return tooLarge("the image has more than %d files and directories", f.limits.Entries)
		}
		if err := f.entry(header, archive, own); err != nil {
			return err
		}
	}
}

// decompress unpacks gzip, whatever the media type says, as container runtimes do.
func (f *flattener) decompress(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	start, err := in.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	out := io.Reader(in)
	if string(start) == "\x1f\x8b" {
		if out, err = gzip.NewReader(in); err != nil {
			return nil, malformed(err)
		}
	}
	return readFunc(func(p []byte) (int, error) {
		n, err := out.Read(p)
		if f.unpacked += int64(n); f.unpacked > f.limits.Unpacked {
			return 0, tooLarge("the layers of the image unpack to more than %d KiB", f.limits.Unpacked>>10)
		}
		return n, err
	}), nil
}

// entry takes one entry of a layer, unless a layer above hides it.
func (f *flattener) entry(header *tar.Header, content io.Reader, own shadow) error {
	name, err := cleanName(header.Name)
	if err != nil {
		return err
	}
	if dir, base := path.Split(name); strings.HasPrefix(base, whiteout) {
		return own.hide(path.Clean(dir), base, header.Name)
	}
	switch header.Typeflag {
	case tar.TypeDir:
		if f.upper.hides(name) || f.upper[name] == file {
			return nil
		}
		return own.add(name, directory)
	case tar.TypeReg:
		if f.upper.hides(name) || f.upper[name] != nothing {
			return own.add(name, file)
		}
		if err := own.add(name, file); err != nil {
			return err
		}
		return f.files.Add(name, header.Size, content)
	case tar.TypeXGlobalHeader:
		return nil
	}
	if f.upper.hides(name) || f.upper[name] != nothing {
		return nil // a link that another layer replaces
	}
	return refuse(header.Name, "%s; a bundle has regular files and directories only", kindOf(header))
}

func kindOf(header *tar.Header) string {
	switch header.Typeflag {
	case tar.TypeSymlink:
		return fmt.Sprintf("is a symbolic link to %q", header.Linkname)
	case tar.TypeLink:
		return fmt.Sprintf("is a hard link to %q", header.Linkname)
	case tar.TypeChar, tar.TypeBlock:
		return "is a device"
	case tar.TypeFifo:
		return "is a named pipe"
	}
	return fmt.Sprintf("is an entry of the unknown type %q", header.Typeflag)
}

// cleanName is the path of an entry in the image; "." is the image itself.
func cleanName(name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || !fs.ValidPath(clean) || strings.Contains("/"+name+"/", "/../") {
		return "", refuse(name, "is not a path within the image")
	}
	return clean, nil
}

func refuse(name, format string, args ...any) error {
	return fault.New(fault.InvalidArgument, "%q %s", name, fmt.Sprintf(format, args...)).WithReason(ReasonRefused).
		WithHint("build the image FROM scratch, and copy nothing into it but the files of the bundle")
}

// kind is what layers have at a path, as a set of bits.
type kind uint8

const (
	nothing   kind = 0
	file      kind = 1 << iota
	directory      // it may be named only by what is in it
	hidden         // whatever is below is removed
	emptied        // whatever is in it below is removed
)

// shadow is what layers hide of those below: their own entries, and what they remove.
type shadow map[string]kind

// hides says whether something above a path, or a mark at it, keeps it from being
// seen: a file where it has a directory, or a removal.
func (s shadow) hides(name string) bool {
	if s[name]&hidden != 0 {
		return true
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if at := s[dir]; at&(file|hidden|emptied) != 0 {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// add takes an entry of a layer, in which nothing has two kinds or is there twice, but for directories.
func (s shadow) add(name string, as kind) error {
	if name == "." {
		if as == file {
			return refuse(name, "is the image itself, not a file")
		}
		return nil
	}
	if at := s[name] & (file | directory); at == file || at != nothing && as == file {
		if at == as {
			return refuse(name, "is in one layer twice")
		}
		return refuse(name, "is both a file and a directory")
	}
	s[name] |= as
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s[dir]&file != 0 {
			return refuse(dir, "is both a file and a directory")
		}
		if s[dir]&directory != 0 {
			break
		}
		s[dir] |= directory
	}
	return nil
}

// hide takes a mark: a name in a directory. The path of the entry is for the error.
func (s shadow) hide(dir, mark, entry string) error {
	name, _ := strings.CutPrefix(mark, whiteout)
	if err := s.add(dir, directory); err != nil {
		return err
	}
	switch {
	case mark == opaque:
		s[dir] |= emptied
	case name == "" || name == "." || name == ".." || strings.HasPrefix(name, whiteout):
		return refuse(entry, "is no mark of a removal that is known")
	default:
		s[path.Join(dir, name)] |= hidden
	}
	return nil
}

// merge adds what the next layer hides of those below it.
func (s shadow) merge(next shadow) {
	for name, at := range next {
		s[name] |= at
	}
}
