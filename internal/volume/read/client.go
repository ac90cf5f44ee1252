package read

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
)

// Client finds the drivers of a cluster by one name: each of its addresses is that of a driver, which knows the volumes
// of its own node alone.
type Client struct {
	// URL is https://HOST[:PORT].
	URL string
	// Config is how a driver is reached there, with the credential that it is sent.
	Config func(context.Context) (*rest.Config, error)
	// Resolve finds the addresses of a host; net.DefaultResolver does if it is nil.
	Resolve func(ctx context.Context, host string) ([]net.IP, error)
}

// Driver is the driver at one address.
type Driver struct {
	Address string // host:port

	base *url.URL
	http *http.Client
}

// dialTimeout is how long a driver may take to be connected to.
const dialTimeout = 10 * time.Second

// Drivers are those at all addresses of the host, in the order of these.
func (c Client) Drivers(ctx context.Context) ([]Driver, error) {
	base, err := url.Parse(c.URL)
	if err != nil || base.Scheme != "https" || base.Hostname() == "" || base.User != nil {
		return nil, fault.New(fault.InvalidArgument,
			"the URL of the drivers must be https://HOST[:PORT], got %q", c.URL)
	}
	addresses, err := c.addresses(ctx, base.Hostname())
	if err != nil {
		return nil, err
	}
	port := base.Port()
	if port == "" {
		port = "443"
	}
	var all []Driver
	for _, ip := range addresses {
		config, err := c.Config(ctx)
		if err != nil {
			return nil, err
		}
		d := Driver{Address: net.JoinHostPort(ip.String(), port), base: base}
		config.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, d.Address)
		}
		config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // it has an address
		config.DisableCompression = true
		if d.http, err = rest.HTTPClientFor(config); err != nil {
			return nil, fault.New(fault.InvalidArgument, "the drivers of scratch volumes cannot be reached: %w", err)
		}
		d.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		all = append(all, d)
	}
	return all, nil
}

// addresses are those of a host, each once. A node that has addresses of both families is not asked twice: where there
// are any of IPv4, those of IPv6 are left out.
func (c Client) addresses(ctx context.Context, host string) ([]net.IP, error) {
	resolve := c.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]net.IP, error) {
			return net.DefaultResolver.LookupIP(ctx, "ip", host)
		}
	}
	found, err := resolve(ctx, host)
	if err == nil && len(found) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the drivers of scratch volumes cannot be found at %s: %w", host, err).
			WithHint("check volumes.readURL of the configuration, or --read-url")
	}
	var four, six []net.IP
	for _, ip := range found {
		of := &six
		if ip.To4() != nil {
			of = &four
		}
		if !slices.ContainsFunc(*of, ip.Equal) {
			*of = append(*of, ip)
		}
	}
	if len(four) > 0 {
		return four, nil
	}
	return six, nil
}

// Picture lists the volumes of a namespace that are in their afterlife; those of a name alone if that is not empty.
func (d Driver) Picture(ctx context.Context, namespace, name string) (p volume.Picture, err error) {
	query := url.Values{}
	if name != "" {
		query.Set(KeyName, name)
	}
	err = d.document(ctx, pathOf(namespace), query, &p)
	return p, err
}

// Volume is one volume, and the node that has it.
func (d Driver) Volume(ctx context.Context, namespace, id string) (p volume.Picture, err error) {
	err = d.document(ctx, pathOf(namespace, id), nil, &p)
	return p, err
}

// maxDocument is how much of a document is read, in bytes.
const maxDocument = 64 << 20

// document gets a document.
func (d Driver) document(ctx context.Context, path string, query url.Values, to any) error {
	response, err := d.do(ctx, path, query, "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(io.LimitReader(response.Body, maxDocument)).Decode(to); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fault.New(fault.Failed, "the answer of the driver at %s cannot be read: %w", d.Address, err).
			WithHint("berth there may be of another version")
	}
	return nil
}

// do sends a request. An answer that is an error is one.
func (d Driver) do(ctx context.Context, path string, query url.Values, span string) (*http.Response, error) {
	at := *d.base
	at.Path, at.RawQuery = "", query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.JoinPath(path).String(), http.NoBody)
	if err != nil {
		return nil, fault.New(fault.Internal, "the driver cannot be asked: %w", err)
	}
	if span != "" {
		request.Header.Set("Range", span)
	}
	response, err := d.http.Do(request)
	if err != nil {
		return nil, d.unreached(ctx, err)
	}
	if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusPartialContent && span != "" {
		return response, nil
	}
	defer response.Body.Close()
	return nil, d.refused(response)
}

// unreached is the error of a driver that does not answer.
func (d Driver) unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	if of, ok := errors.AsType[*fault.Error](err); ok {
		return of
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fault.New(fault.Unavailable,
			"the certificate of the driver at %s cannot be verified: %w", d.Address, err).
			WithHint("set volumes.readCA of the configuration, or --read-ca, " +
				"to the CA that its administrator hands out")
	}
	return fault.New(fault.Unavailable, "the driver at %s cannot be reached: %w", d.Address, err).
		WithHint("check the network, and volumes.readURL of the configuration")
}

// maxRefusal is how much is read of an answer that is an error, in bytes.
const maxRefusal = 64 << 10

// refused is an answer that is an error.
func (d Driver) refused(response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err := admin.ParseFailure(string(text)); err != nil {
		if of := fault.From(err); response.StatusCode == http.StatusGone {
			return of.WithReason(volume.ReasonRemoved)
		}
		return err
	}
	says := strings.TrimSpace(string(text))
	switch response.StatusCode {
	case http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated,
			"the driver at %s does not accept your credential: %s", d.Address, says).
			WithHint("renew it, or see where it comes from: volumes in the configuration")
	case http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "the driver of scratch volumes: %s", says).
			WithHint("ask for a RoleBinding to the ClusterRole %s in that namespace", rbac.ScratchVolumeReader)
	case http.StatusRequestedRangeNotSatisfiable:
		return fault.New(fault.InvalidArgument, "the file ends before that range: it has %s bytes",
			strings.TrimPrefix(response.Header.Get("Content-Range"), "bytes */"))
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fault.New(fault.Unavailable, "the driver at %s: %s", d.Address, says).WithHint("try again")
	}
	return fault.New(fault.Failed, "the driver at %s answers %s: %s", d.Address, response.Status, says).
		WithHint("check that volumes.readURL of the configuration is that of the drivers; berth there may also be of " +
			"another version")
}

// String is the driver in messages.
func (d Driver) String() string { return "the driver at " + d.Address }
