package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"
	gitprotocol "github.com/go-git/go-git/v5/plumbing/transport/git"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/berthdev/berth/internal/credential"
)

// session is a conversation with the remote's git-upload-pack.
type session interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	Close() error
}

// open connects to the remote: over HTTP with a client that keeps the credential
// from other hosts, over SSH with the user's own client.
func (r Remote) open(ctx context.Context) (session, error) {
	if r.URL.Scheme == "ssh" {
		return r.openSSH(ctx)
	}
	address := *r.URL
	overHTTP := address.Scheme == "http" || address.Scheme == "https"
	if overHTTP {
		address.User = nil
	}
	endpoint, err := transport.NewEndpoint(address.String())
	if err != nil {
		return nil, err
	}
	switch {
	case overHTTP:
		client := credential.NewClient(&address, r.Credential, credential.Basic, r.Limits.Transfer)
		return githttp.NewClient(client).NewUploadPackSession(endpoint, nil)
	case address.Scheme == "git":
		return gitprotocol.DefaultClient.NewUploadPackSession(endpoint, nil)
	default:
		return file.DefaultClient.NewUploadPackSession(endpoint, nil)
	}
}

// fetcher gets objects of one repository into memory.
type fetcher struct {
	remote       Remote
	capabilities *capability.List
	objects      *objects
}

// withoutBlobs is the filter that leaves file contents out, or none if the
// remote cannot send them one by one.
func (f *fetcher) withoutBlobs() packp.Filter {
	c := f.capabilities
	if c.Supports(capability.Filter) && (c.Supports(capability.AllowReachableSHA1InWant) || c.Supports("allow-any-sha1-in-want")) {
		return packp.FilterBlobNone()
	}
	return ""
}

// get fetches one object and what it refers to, without history.
func (f *fetcher) get(ctx context.Context, session session, want plumbing.Hash, filter packp.Filter) error {
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
	content, err := io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(pack), f.remote.Limits.Transfer))
	if err != nil {
		return err
	}
	return f.objects.add(ctx, content)
}

// blob returns a file's content, and fetches it if the filter left it out.
func (f *fetcher) blob(ctx context.Context, hash plumbing.Hash) ([]byte, error) {
	limit := f.remote.Limits.File
	content, err := f.objects.get(ctx, plumbing.BlobObject, hash, limit)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return content, err
	}
	session, err := f.remote.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	if _, err = session.AdvertisedReferencesContext(ctx); err != nil {
		return nil, err
	}
	if err := f.get(ctx, session, hash, ""); err != nil {
		return nil, err
	}
	return f.objects.get(ctx, plumbing.BlobObject, hash, limit)
}

// entry finds what a path leads to, directory by directory.
func (f *fetcher) entry(ctx context.Context, tree plumbing.Hash, path string) (*object.TreeEntry, error) {
	var found *object.TreeEntry
	for name := range strings.SplitSeq(path, "/") {
		if found != nil {
			if found.Mode != filemode.Dir {
				return nil, fs.ErrNotExist
			}
			tree = found.Hash
		}
		var dir object.Tree
		if err := f.objects.decode(ctx, tree, &dir); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(dir.Entries, func(e object.TreeEntry) bool { return e.Name == name })
		if i < 0 {
			return nil, fs.ErrNotExist
		}
		found = &dir.Entries[i]
	}
	return found, nil
}
