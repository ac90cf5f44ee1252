// Package git reads files of a commit from a remote repository, without history, a clone or a working tree, within
// limits on what the remote sends.
package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/berthdev/berth/internal/credential"
)

// Remote is a repository and the way to it.
type Remote struct {
	// URL has the scheme https, http, ssh, git or file.
	URL *url.URL
	// Credential is sent over HTTP to the host of URL; nil is anonymous.
	Credential *credential.Source
	// SSH is the client for ssh URLs, see SSHCommand.
	SSH []string
	// LoginHint is the hint of errors that a login may solve.
	LoginHint string
	Limits    Limits

	// The rest is for trees, which may be large and are fetched on behalf of others.

	// Dir is where packs are kept while they are read; empty is in memory.
	Dir string
	// Key names the one SSH key that SSH logs in with, in messages; see SSHKey.
	Key string
	// SameHost refuses redirects to another host, which are otherwise followed without the credential.
	SameHost bool
	// InsecureSkipVerify leaves the certificate of the host unverified.
	InsecureSkipVerify bool
	// Silence is how long the remote may send nothing; 0 is as long as it likes.
	Silence time.Duration
	// Progress is told how many bytes of a pack have come. It may be nil.
	Progress func(done int64)
}

// Limits bound a fetch; the context bounds its time.
type Limits struct {
	Transfer int64 // bytes that the remote may send in one answer
	Unpacked int64 // bytes that are unpacked, all in all
	File     int64 // bytes of a file
	Entries  int   // files and directories of a tree
}

// String names the repository in messages: github.com/org/proj.
func (r Remote) String() string {
	path := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".git")
	return strings.TrimPrefix(r.URL.Host, "www.") + "/" + path
}

// Snapshot is the content of a repository at one commit.
type Snapshot struct {
	// Ref is what was asked for; empty for the default branch.
	Ref string
	// Commit is the full hash of the commit.
	Commit string

	fetcher *fetcher
	tree    plumbing.Hash
}

// Fetch gets the commit of the first of refs that exists: a branch, a tag, or a commit by its hash. An empty ref is the
// default branch. File contents are left out if the remote can send them one by one.
func (r Remote) Fetch(ctx context.Context, refs ...string) (*Snapshot, error) {
	s, err := r.fetch(ctx, func(advertised *packp.AdvRefs) (string, plumbing.Hash, error) {
		if ref, hash, ok := findRef(advertised, refs); ok {
			return ref, hash, nil
		}
		return "", plumbing.ZeroHash, NoRef(r.String(), refs[0])
	})
	if err != nil {
		return nil, r.fault(ctx, err, refs[0])
	}
	return s, nil
}

// fetch gets the commit that find chooses.
func (r Remote) fetch(ctx context.Context,
	find func(*packp.AdvRefs) (ref string, hash plumbing.Hash, err error),
) (_ *Snapshot, err error) {
	session, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	advertised, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, err
	}
	ref, hash, err := find(advertised)
	if err != nil {
		return nil, err
	}
	f := &fetcher{remote: r, capabilities: advertised.Capabilities, objects: &objects{left: r.Limits.Unpacked}}
	defer func() {
		if err != nil {
			f.objects.close()
		}
	}()
	if err := f.get(ctx, session, f.withoutBlobs(), hash); err != nil {
		return nil, err
	}
	for range maxTags {
		var tag object.Tag
		if f.objects.decode(ctx, hash, &tag) != nil {
			break
		}
		hash = tag.Target // of an annotated tag
	}
	var commit object.Commit
	if err := f.objects.decode(ctx, hash, &commit); err != nil {
		return nil, err
	}
	return &Snapshot{Ref: ref, Commit: hash.String(), fetcher: f, tree: commit.TreeHash}, nil
}

const maxTags = 5 // of tags

// Close gives back what the snapshot takes on disk.
func (s *Snapshot) Close() { s.fetcher.objects.close() }

// Location names a file in messages: github.com/org/proj@main:dir/file.
func (s *Snapshot) Location(path string) string {
	return Location(s.fetcher.remote.String(), s.Ref, path)
}

// ReadFile returns the content of a regular file. The error is fs.ErrNotExist if there is nothing at path.
func (s *Snapshot) ReadFile(ctx context.Context, path string) ([]byte, error) {
	entry, err := s.fetcher.entry(ctx, s.tree, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, s.fetcher.remote.fault(ctx, err, s.Ref)
	case entry.Mode != filemode.Regular && entry.Mode != filemode.Executable && entry.Mode != filemode.Deprecated:
		return nil, NotAFile(s.Location(path))
	}
	text, err := s.fetcher.blob(ctx, entry.Hash)
	switch {
	case errors.Is(err, errObjectTooLarge):
		return nil, TooLarge(s.Location(path), s.fetcher.remote.Limits.File)
	case err != nil:
		return nil, s.fetcher.remote.fault(ctx, err, s.Ref)
	}
	return text, nil
}

// scp is git's short way to write a remote behind SSH: git@host:owner/name. What has a slash before its colon is
// something else.
var scp = regexp.MustCompile(`^([A-Za-z0-9_.-]+)@([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\]):([^:].*)$`)

// ParseAddress reads the address of a remote: a URL, or the short form of one for SSH, whose path is below the home
// directory at the remote unless it begins with a slash.
func ParseAddress(text string) (*url.URL, error) {
	parts := scp.FindStringSubmatch(text)
	if parts == nil || strings.Contains(text, "://") {
		return url.Parse(text)
	}
	path, err := url.PathUnescape(parts[3])
	if err != nil {
		return nil, fmt.Errorf("the path of a remote: %w", err)
	}
	return &url.URL{Scheme: "ssh", User: url.User(parts[1]), Host: parts[2], Path: path}, nil
}
