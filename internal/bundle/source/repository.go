package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
	parts "github.com/berthdev/berth/internal/registry/image"
)

// chartName is what a chart can be called.
const chartName pattern.Expr = `^[A-Za-z0-9]([A-Za-z0-9._-]{0,248}[A-Za-z0-9])?$`

// chart fetches a chart of a repository, and pins it to the URL of its archive and to its content. The login goes to
// the repository, and along with the archive only if that is there, too.
func (f Fetcher) chart(ctx context.Context, s v1alpha1.ChartSource) (*content.Content, *v1alpha1.HTTPSource, error) {
	repository, err := httpURL(s.Repository)
	if err != nil {
		return nil, nil, err
	}
	if !chartName.MatchString(s.Name) {
		return nil, nil, fault.New(fault.InvalidArgument, "source.chart.name %q is not the name of a chart", s.Name).
			WithHint("write the name as the repository has it")
	}
	repository.RawQuery, repository.Path = "", strings.TrimSuffix(repository.Path, "/")+"/"
	if repository.RawPath != "" { // a path may have an escaped slash, as at GitLab
		repository.RawPath = strings.TrimSuffix(repository.RawPath, "/") + "/"
	}
	login, err := f.webLogin(ctx, repository, secretOf(s.Auth))
	if err != nil {
		return nil, nil, err
	}
	found, err := f.find(ctx, repository, s, login)
	if err != nil {
		return nil, nil, err
	}
	address, err := archiveURL(repository, found)
	if err != nil {
		return nil, nil, within(name(repository), err)
	}
	resolved := &v1alpha1.HTTPSource{URL: address.String(), Auth: s.Auth}
	if address.Scheme != repository.Scheme || hostPort(address) != hostPort(repository) {
		resolved.Auth, login = nil, nil
	}
	// By its version, not by its URL: an index may lead to an older one, which is signed as well.
	signed, err := f.provenance(ctx, address, s.Name+"-"+found.Version+".tgz", resolved.Auth, login)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.New()
	c, err := f.build(ctx, func(b *content.Builder) error {
		client := clientOf(address, resolved.Auth, login, f.Limits.Compressed+1<<20)
		return f.download(ctx, client, address, resolved.Auth, f.Limits.Compressed, func(r io.Reader) error {
			r = io.TeeReader(r, sum)
			if err := signed.Read(r, func(r io.Reader) error { return b.Tar(ctx, r) }); err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				return err
			}
			return fits(found, hex.EncodeToString(sum.Sum(nil)))
		})
	})
	if err != nil {
		return nil, nil, within(name(address), err)
	}
	resolved.Digest, c.SignedBy = c.Digest, signed.By
	return c, resolved, nil
}

// find chooses the version of a chart in the index of a repository.
func (f Fetcher) find(ctx context.Context, repository *url.URL, s v1alpha1.ChartSource,
	login *credential.Source,
) (entry, error) {
	index := repository.JoinPath("index.yaml")
	var entries []entry
	client := clientOf(index, s.Auth, login, maxIndex+1<<20)
	err := f.Indexes.read(index.String(), func(take func(io.Reader) error) error {
		return f.download(ctx, client, index, s.Auth, maxIndex, take)
	}, func(r io.Reader) (err error) {
		entries, err = readIndex(r, s.Name)
		return err
	})
	if err != nil {
		return entry{}, within(name(index), err)
	}
	if len(entries) == 0 {
		return entry{}, fault.New(fault.NotFound, "%s has no chart %q", name(index), s.Name).
			WithHint("check the name of the chart, which comes after // in SOURCE")
	}
	versions := make([]string, len(entries))
	for i, e := range entries {
		versions[i] = e.Version
	}
	wanted := s.Version
	if wanted == "" {
		wanted = "*"
	}
	version, err := choose(versions, wanted, "chart "+s.Name+" of "+name(repository))
	if err != nil {
		return entry{}, err
	}
	return entries[slices.Index(versions, version)], nil
}

// Indexes are those of chart repositories, kept so that each is fetched once for several charts. It is for one
// goroutine; nil keeps none.
type Indexes struct{ files map[string]*os.File }

// Close lets go of them.
func (x *Indexes) Close() {
	for _, file := range x.files {
		file.Close()
	}
	x.files = nil
}

// read gives an index to take: the one that is kept, or else what download gives.
func (x *Indexes) read(url string, download func(take func(io.Reader) error) error, take func(io.Reader) error) error {
	if x == nil {
		return download(take)
	}
	if x.files[url] == nil {
		file, err := os.CreateTemp("", "berth-index-")
		if err != nil {
			return err
		}
		_ = os.Remove(file.Name()) // is gone with its last reader
		err = download(func(r io.Reader) error {
			_, err := io.Copy(file, io.LimitReader(r, maxIndex+1))
			return err
		})
		if err != nil {
			file.Close()
			return err
		}
		if x.files == nil {
			x.files = map[string]*os.File{}
		}
		x.files[url] = file
	}
	file := x.files[url]
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return take(file)
}

// archiveURL is where a version is, which may be written relative to the repository.
func archiveURL(repository *url.URL, e entry) (*url.URL, error) {
	if len(e.URLs) == 0 {
		return nil, badIndex("version %s has no URL", e.Version)
	}
	address, err := repository.Parse(e.URLs[0])
	switch {
	case err != nil:
		return nil, badIndex("version %s has an invalid URL", e.Version)
	case address.Scheme == "oci" && address.User == nil && address.RawQuery == "" && address.Host != "":
		return nil, fault.New(fault.InvalidArgument, "version %s is in a registry: %w", e.Version, inRegistryError{
			ref: strings.TrimPrefix(e.URLs[0], "oci://"), version: e.Version,
		}).
			WithHint("install it from there, with oci:// as SOURCE")
	case address.Scheme != "https" && address.Scheme != "http", address.Host == "", address.User != nil:
		return nil, badIndex("version %s has a URL that is not one of https without a login", e.Version)
	case repository.Scheme == "https" && address.Scheme == "http" && e.Digest == "":
		return nil, badIndex("version %s is at a URL without encryption, and has no digest", e.Version)
	}
	address.Fragment = ""
	return address, nil
}

// inRegistryError is the error of a version that the index of a repository has at a registry.
type inRegistryError struct{ ref, version string }

// Error implements error.
func (e inRegistryError) Error() string { return fault.Line("oci://" + e.ref) }

// InRegistry is where a chart of a repository is instead, by the error of fetching it; nil if it is in no registry.
// The login of the repository is not for there.
func InRegistry(err error) *v1alpha1.ImageSource {
	at, ok := errors.AsType[inRegistryError](err)
	if !ok {
		return nil
	}
	if named := parts.Parse(at.ref); named.Tag != "" || named.Digest != "" {
		return &v1alpha1.ImageSource{Ref: at.ref}
	}
	return &v1alpha1.ImageSource{Ref: at.ref, Version: at.version}
}

// fits compares the digest of an archive with that of the index, if it has one.
func fits(e entry, sum string) error {
	wanted := strings.ToLower(strings.TrimPrefix(e.Digest, "sha256:"))
	if e.Digest == "" || wanted == sum {
		return nil
	}
	return fault.New(fault.Failed, "the archive of version %s is not the one of the index: its digest is %s, not %s",
		e.Version, sum, fault.Line(wanted)).
		WithHint("do not use it; tell the maintainers of the repository")
}

// clientOf is the client for a server, with a login for it or without.
func clientOf(address *url.URL, auth *v1alpha1.Authorization, login *credential.Source, most int64) *http.Client {
	if auth != nil && auth.InsecureSkipVerify {
		return credential.NewClientWithoutVerification(address, login, credential.Basic, most)
	}
	return credential.NewClient(address, login, credential.Basic, most)
}

// maxVersion is how long a range of versions may be.
const maxVersion = 256 // bytes

// constraint reads a version or a range of them, as Helm has them.
func constraint(wanted string) (*semver.Constraints, error) {
	const hint = "write a version (1.2.3) or a range of them (~1.2, ^1, '>=1.2 <2'); '>=0-0' takes pre-releases as well"
	if len(wanted) > maxVersion {
		return nil, fault.New(fault.InvalidArgument, "the version has more than %d characters", maxVersion).
			WithHint(hint)
	}
	c, err := semver.NewConstraint(wanted)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "version %q is neither a version nor a range of versions", wanted).
			WithHint(hint)
	}
	return c, nil
}

// isExact is true for a version that is written out, and fits no other.
func isExact(wanted string) bool {
	_, err := semver.StrictNewVersion(wanted)
	return err == nil
}

// choose takes the newest of some versions that is wanted, as Helm does: the very one, if it is there, or else what
// fits the range. A pre-release fits only a range that names one. What is no version, or too long, is passed over.
func choose(versions []string, wanted, of string) (string, error) {
	if slices.Contains(versions, wanted) {
		return wanted, nil
	}
	fits, err := constraint(wanted)
	if err != nil {
		return "", err
	}
	var newest *semver.Version
	known := make([]*semver.Version, 0, len(versions))
	for _, text := range versions {
		v, err := semver.NewVersion(text)
		if err != nil || len(text) > maxVersion {
			continue
		}
		known = append(known, v)
		if fits.Check(v) && (newest == nil || v.GreaterThan(newest)) {
			newest = v
		}
	}
	if newest == nil {
		return "", fault.New(fault.NotFound, "%s has no version %q%s", of, wanted, newestOf(known)).
			WithHint("choose another version; a pre-release is taken only by its name or a range that " +
				"names one, as '>=0-0'")
	}
	return newest.Original(), nil
}

// newestOf are the newest few versions, for a message.
func newestOf(versions []*semver.Version) string {
	const most = 5
	slices.SortFunc(versions, func(a, b *semver.Version) int {
		return cmp.Or(b.Compare(a), cmp.Compare(a.Original(), b.Original()))
	})
	var texts []string
	for _, v := range versions[:min(most, len(versions))] {
		texts = append(texts, v.Original())
	}
	if len(texts) == 0 {
		return ", and no other"
	}
	return "; the newest are " + strings.Join(texts, ", ")
}
