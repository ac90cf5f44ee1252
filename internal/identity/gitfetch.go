package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"
	"github.com/go-git/go-git/v5/plumbing/transport/git"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"
)

const (
	maxPack    = 64 << 20  // bytes that a remote may send for one file
	maxObjects = 256 << 20 // bytes of what it sends, unpacked
)

var errBlobTooLarge = errors.New("the file is too large")

// session is a conversation with the remote's git-upload-pack, as go-git has it.
type session interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	Close() error
}

// open makes a session with the remote. Over HTTP the client is one of our own,
// that keeps the login from other hosts; over SSH it is the user's own program.
func (r *remoteRepository) open(ctx context.Context) (session, error) {
	if r.url.Scheme == "ssh" {
		return r.openSSH(ctx)
	}
	bare := *r.url
	overHTTP := bare.Scheme == "http" || bare.Scheme == "https"
	if overHTTP {
		bare.User = nil
	}
	endpoint, err := transport.NewEndpoint(bare.String())
	if err != nil {
		return nil, err
	}
	switch {
	case overHTTP:
		authorized := authorized{
			base: http.DefaultTransport, origin: originOf(&bare), basic: true, limit: maxPack,
			credential: func(q *http.Request) (credential, error) { return r.token.get(q.Context()) },
		}
		return githttp.NewClient(authorized.client()).NewUploadPackSession(endpoint, nil)
	case bare.Scheme == "git":
		return git.DefaultClient.NewUploadPackSession(endpoint, nil)
	default:
		return file.DefaultClient.NewUploadPackSession(endpoint, nil)
	}
}

// fetch gets objects of one repository into memory.
type fetch struct {
	repository   *remoteRepository
	capabilities *capability.List
	storage      *boundedStorage
}

// single is the filter that leaves files out, where the remote knows it.
func (f *fetch) single() packp.Filter {
	if canFilter(f.capabilities) {
		return packp.FilterBlobNone()
	}
	return ""
}

// get asks for one object and what it needs, without history.
func (f *fetch) get(ctx context.Context, session session, want plumbing.Hash, filter packp.Filter) error {
	request := packp.NewUploadPackRequestFromCapabilities(f.capabilities)
	request.Wants = []plumbing.Hash{want}
	if f.capabilities.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
		if err := request.Capabilities.Set(capability.Shallow); err != nil {
			return err
		}
	}
	if filter != "" {
		request.Filter = filter
		if err := request.Capabilities.Set(capability.Filter); err != nil {
			return err
		}
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Close() }()
	var pack io.Reader = response
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, pack)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, pack)
	}
	bound := &bounded{ReadCloser: io.NopCloser(pack), left: maxPack}
	return packfile.UpdateObjectStorage(f.storage, bound)
}

// tree is that of a commit, or of an annotated tag of one.
func (f *fetch) tree(hash plumbing.Hash) (*object.Tree, error) {
	if tag, err := object.GetTag(f.storage, hash); err == nil {
		hash = tag.Target
	}
	commit, err := object.GetCommit(f.storage, hash)
	if err != nil {
		return nil, err
	}
	return commit.Tree()
}

// blob gives a file's text; one that the filter has left out is asked for.
func (f *fetch) blob(ctx context.Context, hash plumbing.Hash) ([]byte, error) {
	blob, err := object.GetBlob(f.storage, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		session, openErr := f.repository.open(ctx)
		if openErr != nil {
			return nil, openErr
		}
		defer func() { _ = session.Close() }()
		if _, err = session.AdvertisedReferencesContext(ctx); err != nil {
			return nil, err
		}
		if err := f.get(ctx, session, hash, ""); err != nil {
			return nil, err
		}
		blob, err = object.GetBlob(f.storage, hash)
	}
	if err != nil {
		return nil, err
	}
	if blob.Size > maxBlob {
		return nil, errBlobTooLarge
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	return readAll(reader, maxBlob)
}

// boundedStorage keeps objects in memory, up to a limit: a small pack can hold
// a large file of nothing.
type boundedStorage struct {
	*memory.Storage
	left int64
}

func newBoundedStorage() *boundedStorage {
	return &boundedStorage{Storage: memory.NewStorage(), left: maxObjects}
}

// LazyWriter is where the parser of packs unpacks an object to. It takes from
// what is left before the object is there.
func (s *boundedStorage) LazyWriter() (w io.WriteCloser, header func(plumbing.ObjectType, int64) error, err error) {
	o := &boundedObject{MemoryObject: &plumbing.MemoryObject{}, storage: s}
	return o, func(kind plumbing.ObjectType, size int64) error {
		if s.left -= size; s.left < 0 {
			return fmt.Errorf("more than %d MiB, unpacked: %w", maxObjects>>20, errTooLarge)
		}
		o.SetType(kind)
		o.room = size
		return nil
	}, nil
}

// boundedObject is an object that is being unpacked.
type boundedObject struct {
	*plumbing.MemoryObject
	storage *boundedStorage
	room    int64
}

// Write refuses more than the header has promised.
func (o *boundedObject) Write(p []byte) (int, error) {
	if o.room -= int64(len(p)); o.room < 0 {
		return 0, errTooLarge
	}
	return o.MemoryObject.Write(p)
}

// Close keeps the object.
func (o *boundedObject) Close() error {
	_, err := o.storage.SetEncodedObject(o.MemoryObject)
	return err
}
