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
