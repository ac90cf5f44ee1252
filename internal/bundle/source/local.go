package source

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
)

// Stdin is the path of standard input.
const Stdin = "-"

// localSources are what a source on this machine can be, for messages.
const localSources = "a directory, a tar file, a file of YAML or JSON, or - for standard input"

// Local makes content of a directory, of an archive (a tar file, with gzip or without), of one file of YAML or JSON,
// or of either on stdin, if the path is Stdin. Of a directory, what git keeps in .git is left out, so
// that a working tree has the content of its commit. DIRECTORY//PART is a part of a directory, as of a repository.
func (f Fetcher) Local(ctx context.Context, name string, stdin io.Reader) (*content.Content, error) {
	if name == Stdin {
		if err := f.Verify.Unsupported("standard input"); err != nil {
			return nil, err
		}
		return f.archive(ctx, "standard input", stdin, 0, signature.Archive{})
	}
	base, dir, isPart := cutDirectory(name)
	if isPart {
		name = base
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, localFault(err)
	case isPart && !info.IsDir():
		return nil, fault.New(fault.InvalidArgument, "%s is not a directory, of which //%s is a part", name, dir).
			WithHint("unpack it, and name the directory")
	case isPart, info.IsDir():
		if err := f.Verify.Unsupported("the directory " + name); err != nil {
			return nil, err
		}
		if isPart {
			return f.part(ctx, name, dir)
		}
		return f.directory(ctx, name)
	case !info.Mode().IsRegular():
		return nil, fault.New(fault.InvalidArgument, "%s is neither a directory nor a file", name).
			WithHint("name %s", localSources)
	}
	signed, err := f.localProvenance(name)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, localFault(err)
	}
	defer file.Close()
	return f.archive(ctx, name, file, info.Size(), signed)
}

func (f Fetcher) archive(ctx context.Context, name string, r io.Reader, total int64,
	signed signature.Archive,
) (*content.Content, error) {
	c, err := f.build(ctx, func(b *content.Builder) error {
		return signed.Read(f.Watch("Reading "+name, r, total), func(r io.Reader) error {
			return b.TarOrText(ctx, r, manifestOf(filepath.ToSlash(name)), nil)
		})
	})
	if err != nil {
		return nil, within(name, err)
	}
	c.SignedBy = signed.By
	return c, nil
}

// localProvenance is what helm has beside an archive.
func (f Fetcher) localProvenance(name string) (signed signature.Archive, _ error) {
	if f.Verify == nil {
		return signed, nil
	}
	if isText(name) {
		return signed, f.Verify.Unsupported("the file " + name)
	}
	var text []byte
	file, err := os.Open(name + signature.Suffix)
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, signature.MaxProvenance+1))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return signed, localFault(err)
	}
	return f.Verify.Archive("the archive "+name, filepath.Base(name), text)
}

// isText says whether a file is one of YAML or JSON, by its name.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// manifestOf is the file that a source becomes which is a single one, of YAML or JSON: the content is that of a
// directory with manifests/, in which the file has the name that it has at its source.
func manifestOf(source string) string {
	const dir, unnamed = "manifests/", "manifest.yaml"
	if name := path.Base(source); isText(name) && fileName.MatchString(name) {
		return dir + name
	}
	return dir + unnamed
}

// fileName is a name that is valid on every system.
const fileName pattern.Expr = `^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$`

// directory reads through os.Root, so that nothing outside is read, whatever is changed
// meanwhile.
func (f Fetcher) directory(ctx context.Context, dir string) (*content.Content, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, localFault(err)
	}
	defer root.Close()
	return f.tree(ctx, root, dir)
}

// tree makes content of all files below a root, which has a name for messages.
func (f Fetcher) tree(ctx context.Context, root *os.Root, dir string) (*content.Content, error) {
	f.tell(v1.Progress{Message: "Reading " + dir})
	c, err := f.build(ctx, func(b *content.Builder) error { return addTree(ctx, b, root, ".") })
	return c, within(dir, err)
}

// addTree takes the files of a directory, with their paths below the root.
func addTree(ctx context.Context, b *content.Builder, root *os.Root, dir string) error {
	var problems content.Problems
	err := fs.WalkDir(root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.Name() == ".git":
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil // of a working tree elsewhere
		case entry.IsDir():
			return nil
		}
		if err := addFile(b, root, name, entry.Type()); !problems.Add(err) {
			return err
		}
		return nil
	})
	return localFault(problems.Or(err))
}

func addFile(b *content.Builder, root *os.Root, name string, kind fs.FileMode) error {
	if kind&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return b.Link(name, filepath.ToSlash(target))
	}
	if !kind.IsRegular() {
		return content.Refuse(name, "%s; a bundle has files only", kindOf(kind))
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return b.Add(name, info.Size(), file)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "not a regular file"
}

// within says whose content an error is about.
func within(name string, err error) error {
	own, ok := errors.AsType[*fault.Error](err)
	if !ok || own.Code != fault.InvalidArgument {
		return err
	}
	named := *own
	named.Message = fault.Line(name) + ": " + own.Message
	return &named
}

// localFault explains why something cannot be read.
func localFault(err error) error {
	_, own := errors.AsType[*fault.Error](err)
	at, ok := errors.AsType[*fs.PathError](err)
	switch {
	case own || !ok:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "%s does not exist", at.Path).
			WithHint("name %s; a source elsewhere begins with oci://, git+https://, ssh:// or https://", localSources)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.PermissionDenied, "%s cannot be read: %w", at.Path, at.Err)
	}
	return fault.New(fault.InvalidArgument, "%s cannot be read: %w", at.Path, at.Err)
}
