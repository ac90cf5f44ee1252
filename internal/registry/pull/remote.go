package pull

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	oras "oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/berthdev/berth/internal/credential"
)

// remote is a repository of a registry.
type remote struct {
	name  reference
	login credential.Credential
	gate  *gate
	repo  *oras.Repository
}

// open finds the login; nothing is sent to the registry yet.
func (p Puller) open(ctx context.Context, name reference) (*remote, error) {
	r := &remote{name: name, gate: newGate(name.Host(), p)}
	if p.Login != nil {
		var err error
		if r.login, err = p.Login(ctx, name.repository()); err != nil {
			return nil, err
		}
	}
	repo, err := oras.NewRepository(name.repository())
	if err != nil {
		return nil, err
	}
	repo.Client = &auth.Client{
		Client:     &http.Client{Transport: &retry.Transport{Base: r.gate, Policy: again}, CheckRedirect: r.gate.redirect},
		Header:     http.Header{"User-Agent": {"berth"}},
		Cache:      auth.NewCache(),
		Credential: r.credential,
		ClientID:   "berth",
	}
	r.repo = repo
	return r, nil
}

// again sends a request once more if the registry, or what stands before it, has a
// moment of weakness.
func again() retry.Policy {
	return &retry.GenericPolicy{
		Retryable: func(response *http.Response, err error) (bool, error) {
			return err == nil && (response.StatusCode == http.StatusBadGateway ||
				response.StatusCode == http.StatusServiceUnavailable ||
				response.StatusCode == http.StatusGatewayTimeout), nil
		},
		Backoff: retry.ExponentialBackoff(100*time.Millisecond, 2, 0.1), MinWait: 50 * time.Millisecond,
		MaxWait: time.Second, MaxRetry: 2,
	}
}

// credential is the login in oras' words, for this registry alone.
func (r *remote) credential(_ context.Context, host string) (auth.Credential, error) {
	switch {
	case r.login.Anonymous() || host != r.name.Host():
		return auth.EmptyCredential, nil
	case r.login.Username == credential.DockerToken:
		return auth.Credential{RefreshToken: r.login.Token.Reveal()}, nil
	}
	return auth.Credential{Username: r.login.Username, Password: r.login.Token.Reveal()}, nil
}

const maxManifest = 4 << 20 // bytes, as registries have it

// manifest reads an index or a manifest, and verifies that it is what was asked for.
// The first request finds out whether the registry speaks TLS.
func (r *remote) manifest(ctx context.Context, ref string) (ocispec.Descriptor, []byte, error) {
	desc, body, err := r.repo.FetchReference(ctx, ref)
	if isPlain(err) && r.gate.plain {
		r.gate.scheme, r.repo.PlainHTTP = "http", true
		desc, body, err = r.repo.FetchReference(ctx, ref)
	}
	if err != nil {
		return desc, nil, err
	}
	defer body.Close()
	if desc.Size > maxManifest {
		return desc, nil, errManifestTooLarge
	}
	if asked := digest.Digest(ref); asked.Validate() == nil {
		desc.Digest = asked
	}
	text, err := content.ReadAll(body, desc)
	return desc, text, err
}

// layer reads a layer, and verifies its size and digest.
func (r *remote) layer(ctx context.Context, desc ocispec.Descriptor, into *flattener, progress *meter) error {
	body, err := r.repo.Blobs().Fetch(ctx, desc)
	if err != nil {
		return err
	}
	defer body.Close()
	verified := content.NewVerifyReader(readFunc(func(p []byte) (int, error) {
		n, err := body.Read(p)
		progress.add(n)
		return n, err
	}), desc)
	if err := into.layer(ctx, desc, verified); err != nil {
		return err
	}
	return verified.Verify()
}

type readFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

var _ io.Reader = readFunc(nil)
