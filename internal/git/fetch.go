package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
)

// session is a conversation with the remote's git-upload-pack.
type session interface {
	AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error)
	UploadPack(ctx context.Context, request *packp.UploadPackRequest) (*packp.UploadPackResponse, error)
	Close() error
}

// open connects to the remote: over HTTP with a client that keeps the credential from other hosts, over SSH with the
// user's own client.
func (r Remote) open(ctx context.Context) (session, error) {
	arm(ctx)
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
		return githttp.NewClient(r.client(&address)).NewUploadPackSession(endpoint, nil)
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

// withoutBlobs is the filter that leaves file contents out, or none if the remote cannot send them one by one.
func (f *fetcher) withoutBlobs() packp.Filter {
	c := f.capabilities
	if c.Supports(capability.Filter) &&
		(c.Supports(capability.AllowReachableSHA1InWant) || c.Supports("allow-any-sha1-in-want")) {
		return packp.FilterBlobNone()
	}
	return ""
}

// get fetches objects and what they refer to, without history.
func (f *fetcher) get(ctx context.Context, session session, filter packp.Filter, wants ...plumbing.Hash) error {
	request := packp.NewUploadPackRequestFromCapabilities(f.capabilities)
	request.Wants = wants
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
	content, file, err := keep(f.remote.progress(pack), f.remote.Limits.Transfer, f.remote.Dir)
	disarm(ctx) // what is done with it takes its time
	if err != nil {
		return err
	}
	if file != nil {
		f.objects.files = append(f.objects.files, file)
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
	if err := f.more(ctx, hash); err != nil {
		return nil, err
	}
	return f.objects.get(ctx, plumbing.BlobObject, hash, limit)
}

// more fetches objects that the filter left out, in one request.
func (f *fetcher) more(ctx context.Context, wants ...plumbing.Hash) error {
	session, err := f.remote.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	if _, err = session.AdvertisedReferencesContext(ctx); err != nil {
		return err
	}
	return f.get(ctx, session, "", wants...)
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
