package source

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
)

// git fetches a directory of a commit, and pins it to the commit's hash.
func (f Fetcher) git(ctx context.Context, s v1alpha1.GitSource) (*content.Content, *v1alpha1.GitSource, error) {
	address, err := repositoryURL(s)
	if err == nil {
		err = f.Verify.Unsupported("repository " + address.Redacted())
	}
	if err != nil {
		return nil, nil, err
	}
	remote, closeRemote, err := f.remote(ctx, address, s.Auth)
	if err != nil {
		return nil, nil, err
	}
	snapshot, err := remote.FetchRef(ctx, git.Ref(s.Ref))
	if fault.CodeOf(err) == fault.Unauthenticated && f.ownLogin(ctx, &remote) {
		snapshot, err = remote.FetchRef(ctx, git.Ref(s.Ref))
	}
	if err != nil {
		closeRemote()
		return nil, nil, err
	}
	commit := Commit{snapshot, closeRemote}
	c, err := f.partOfCommit(ctx, snapshot, s.Directory)
	if err == nil && f.Commit != nil {
		*f.Commit = commit
	} else {
		commit.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	s.Ref = v1alpha1.GitRef{Commit: snapshot.Commit}
	return c, &s, nil
}

// partOfCommit makes content of a directory of a commit, with what its kustomization refers to.
func (f Fetcher) partOfCommit(ctx context.Context, snapshot *git.Snapshot, dir string) (*content.Content, error) {
	parts, err := gitParts(ctx, snapshot, dir)
	if err != nil {
		return nil, err
	}
	return f.build(ctx, func(b *content.Builder) error {
		if parts.Root == nil {
			return addCommit(ctx, b, snapshot, dir, "")
		}
		for _, part := range parts.Dirs {
			if err := addCommit(ctx, b, snapshot, part, part); err != nil {
				return err
			}
		}
		return addRoot(b, parts)
	})
}

// Commit is one that a git source is a directory of. What else it has can be read until it is closed.
type Commit struct {
	snapshot    *git.Snapshot
	closeRemote func()
}

// Directory makes content of another directory of the commit. No link leads to one.
func (c *Commit) Directory(ctx context.Context, f Fetcher, dir string) (*content.Content, error) {
	return f.build(ctx, func(b *content.Builder) error { return addCommit(ctx, b, c.snapshot, dir, "") })
}

// Close gives back what the commit takes on disk, if one was fetched.
func (c *Commit) Close() {
	if c.snapshot != nil {
		c.snapshot.Close()
		c.closeRemote()
	}
}

// addCommit takes the files of a directory of a commit to a place in the content.
func addCommit(ctx context.Context, b *content.Builder, snapshot *git.Snapshot, dir, place string) error {
	files := &collector{builder: b}
	err := snapshot.Files(ctx, dir, placed{place, files})
	if fault.ReasonOf(err) == content.ReasonTooLarge {
		return within(snapshot.Location(dir), err)
	}
	return files.result(snapshot.Location(dir), err)
}

// unpackings is how often bytes of a pack may be unpacked: to know them, as the base
// of others, and for their files.
const unpackings = 4

// remote is the repository, with the login of the Secret. What is made for it is to
// be closed.
func (f Fetcher) remote(ctx context.Context, address *url.URL, auth *v1alpha1.Authorization) (_ git.Remote,
	closeRemote func(), err error,
) {
	report := f.report("Fetching " + address.Host + address.Path)
	remote := git.Remote{
		URL: address, Dir: os.TempDir(), SameHost: true,
		InsecureSkipVerify: auth != nil && auth.InsecureSkipVerify,
		Silence:            cmp.Or(f.silence, maxSilence),
		LoginHint:          loginHint,
		Limits: git.Limits{
			Transfer: f.Limits.Compressed, Unpacked: unpackings * f.Limits.Unpacked,
			File: f.Limits.File, Entries: f.Limits.Files,
		},
		Progress: func(done int64) { report(done, 0) },
	}
	closeRemote = func() {}
	switch {
	case address.Scheme != "ssh":
		remote.Credential, err = f.login(ctx, address, secretOf(auth))
	case auth != nil && auth.Secret.Name != "":
		remote.Key = "secret/" + auth.Secret.Name
		remote.SSH, closeRemote, err = f.sshKey(ctx, address, *auth)
	case f.Getenv == nil:
		err = fault.New(fault.Unauthenticated, "repository %s takes an SSH key, and no Secret has one", remote).
			WithHint("name a Secret with ssh-privatekey and ssh-knownhosts in source.git.auth of the bundle")
	default:
		remote.SSH = git.SSHCommand(f.Getenv)
	}
	return remote, closeRemote, err
}

const loginHint = "check the spelling; if it is private, name a Secret with a login for it (`berth bundle install " +
	"--source-secret`, or source.git.auth " +
	"of the bundle), or let a credential helper of git have one"

// ownLogin gives a remote that takes a login the caller's own, as git would find it: if
// nobody else can read it on the way.
func (f Fetcher) ownLogin(ctx context.Context, remote *git.Remote) bool {
	if f.Getenv == nil || remote.Credential != nil || remote.URL.Scheme == "ssh" || encrypted(remote.URL, "") != nil {
		return false
	}
	own := &credential.Source{Command: credential.GitHelper(remote.URL, "")}
	login, err := own.Get(ctx)
	if err != nil || login.Anonymous() {
		return false // the remote's own answer says what to do
	}
	remote.Credential = own
	return true
}

// repositoryURL reads the address of a source. Only remotes are read: what is on this
// machine, which may be a server's, is nobody's source.
func repositoryURL(s v1alpha1.GitSource) (*url.URL, error) {
	address, err := url.Parse(s.Repository)
	const hint = "write https://HOST/REPOSITORY.git or ssh://git@HOST/REPOSITORY.git"
	if err != nil || address.Host == "" {
		return nil, fault.New(fault.InvalidArgument, "source.git.repository is not a URL").WithHint(hint)
	}
	var problems []string
	switch address.Scheme {
	case "https", "http", "ssh":
	default:
		problems = append(problems, fmt.Sprintf("source.git.repository has the scheme %q, not https or ssh",
			address.Scheme))
	}
	if _, password := address.User.Password(); password || address.User != nil && address.Scheme != "ssh" {
		problems = append(problems, "source.git.repository has a login in it, which belongs into the Secret "+
			"of source.git.auth")
	}
	set := 0
	for _, ref := range []string{s.Ref.Branch, s.Ref.Tag, s.Ref.Commit} {
		if ref != "" {
			set++
		}
	}
	if set != 1 {
		problems = append(problems, fmt.Sprintf("source.git.ref has %d of branch, tag and commit, not exactly one",
			set))
	}
	return address, together(problems, hint)
}
