package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pace"
	"github.com/berthdev/berth/internal/yamldoc"
)

// maxSilence is how long a server may send too little.
const maxSilence = 30 * time.Second

// http fetches an archive, or a file of YAML. The login goes to the server of the URL and to no other.
func (f Fetcher) http(ctx context.Context, s v1alpha1.HTTPSource) (*content.Content, *v1alpha1.HTTPSource, error) {
	address, err := httpURL(s.URL)
	if err != nil {
		return nil, nil, err
	}
	c, ok, err := f.cached(s.Digest)
	if ok || err != nil {
		return c, &s, err
	}
	login, err := f.webLogin(ctx, address, secretOf(s.Auth))
	if err != nil {
		return nil, nil, err
	}
	signed, err := f.provenance(ctx, address, path.Base(address.Path), s.Auth, login)
	if err != nil {
		return nil, nil, err
	}
	// The builder is the first to find it too large, and says so.
	client := clientOf(address, s.Auth, login, f.Limits.Compressed+1<<20)
	c, err = f.build(ctx, func(b *content.Builder) error {
		return f.download(ctx, client, address, s.Auth, f.Limits.Compressed,
			func(r io.Reader) error {
				return signed.Read(r, func(r io.Reader) error {
					return b.TarOrText(ctx, r, manifestOf(address.Path), objects)
				})
			})
	})
	if err != nil {
		return nil, nil, within(name(address), err)
	}
	if s.Digest != "" && c.Digest != s.Digest {
		_ = c.Close()
		return nil, nil, fault.New(fault.Failed, "%s has other content now: %s, not %s", name(address), c.Digest,
			s.Digest).
			WithHint("install the bundle again from its source to get the new content")
	}
	s.Digest, c.SignedBy = c.Digest, signed.By
	return c, &s, nil
}

// provenance is what helm has beside an archive at a URL: by whom it is signed, and what digest it has then. File is
// the name that it was signed by.
func (f Fetcher) provenance(ctx context.Context, address *url.URL, file string, auth *v1alpha1.Authorization,
	login *credential.Source,
) (signed signature.Archive, _ error) {
	if f.Verify == nil {
		return signed, nil
	}
	what := "the archive " + name(address)
	if isText(file) {
		return signed, f.Verify.Unsupported("the file " + name(address))
	}
	var text []byte
	err := f.Verify.CheckKeyring(what)
	if err == nil {
		beside := *address
		beside.Path += signature.Suffix
		if beside.RawPath != "" {
			beside.RawPath += signature.Suffix
		}
		client := clientOf(&beside, auth, login, signature.MaxProvenance+1<<10)
		err = f.download(ctx, client, &beside, auth, signature.MaxProvenance, func(r io.Reader) (err error) {
			text, err = io.ReadAll(io.LimitReader(r, signature.MaxProvenance+1))
			return err
		})
	}
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return signed, err
	}
	return f.Verify.Archive(what, file, text)
}

// download gives what is at a URL to take, unless it says that it has more than most bytes.
func (f Fetcher) download(ctx context.Context, client *http.Client, address *url.URL, auth *v1alpha1.Authorization,
	most int64, take func(io.Reader) error,
) error {
	silence := cmp.Or(f.silence, maxSilence)
	ctx, alive, stop := watchdog(ctx, silence)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return fault.New(fault.InvalidArgument, "invalid URL %s", name(address))
	}
	// The archive as it is: a server may otherwise compress it once more.
	request.Header.Set("Accept-Encoding", "identity")
	response, err := client.Do(request)
	if err != nil {
		return downloadFault(ctx, address, silence, credential.WithoutURL(err))
	}
	defer response.Body.Close()
	if err := statusFault(address, response, secretOf(auth)); err != nil {
		return err
	}
	if response.ContentLength > most {
		return fault.New(fault.InvalidArgument, "it has %d bytes, more than the %d that are fetched",
			response.ContentLength, most).
			WithReason(content.ReasonTooLarge).WithHint("check the URL, or make it smaller")
	}
	body := f.Watch("Fetching "+name(address), alive(response.Body), max(0, response.ContentLength))
	return downloadFault(ctx, address, silence, take(body))
}

// httpURL reads the URL of a source, in which no login is taken: objects are read by
// many.
func httpURL(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Host == "" || address.Opaque != "":
		return nil, fault.New(fault.InvalidArgument, "source.http.url is not a URL").
			WithHint("write https://HOST/PATH.tgz or https://HOST/PATH.yaml")
	case address.Scheme != "http" && address.Scheme != "https":
		return nil, fault.New(fault.InvalidArgument, "source.http.url has the scheme %q", address.Scheme).
			WithHint("use https://")
	case address.User != nil:
		return nil, fault.New(fault.InvalidArgument, "source.http.url has a login in it").
			WithHint("put it into a Secret and name that in source.http.auth")
	}
	address.Fragment = ""
	return address, nil
}

// name is a URL in messages, without its query, which may have a token.
func name(address *url.URL) string {
	return address.Scheme + "://" + address.Host + address.EscapedPath()
}

// statusFault explains an answer without an archive, to a request with the login of a
// Secret or, if it has no name, without.
func statusFault(address *url.URL, response *http.Response, secret string) error {
	status := strconv.Itoa(response.StatusCode)
	if text := http.StatusText(response.StatusCode); text != "" {
		status += " " + text
	}
	with := "without a login"
	if secret != "" {
		with = "with the login from secret/" + secret
	}
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusUnauthorized && secret == "":
		return fault.New(fault.Unauthenticated, "%s requires a login: %s", name(address), status).
			WithHint("name a Secret with username and password: `berth bundle install --source-secret`, or " +
				"source.http.auth of the bundle")
	case code == http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "%s: %s %s", name(address), status, with).
			WithReason(credential.ReasonRejected).
			WithHint("correct the username and the password of the Secret, or name another")
	case code == http.StatusForbidden:
		return fault.New(fault.PermissionDenied, "%s: %s %s", name(address), status, with).
			WithHint("ask the administrators of the server for access, or name a Secret with another login")
	case code == http.StatusNotFound, code == http.StatusGone:
		return fault.New(fault.NotFound, "%s: %s", name(address), status).WithHint("check the URL")
	default:
		return fault.New(fault.Unavailable, "%s: %s", name(address), status).WithHint("try again in a while")
	}
}

var errSilent = errors.New("the server is silent")

// downloadFault explains why an archive could not be read to its end.
func downloadFault(ctx context.Context, address *url.URL, silence time.Duration, err error) error {
	_, own := errors.AsType[*fault.Error](err)
	switch {
	case err == nil, own:
		return err
	case errors.Is(context.Cause(ctx), errSilent):
		return fault.New(fault.Unavailable, "%s: the server %s", name(address), pace.TooLittle(silence)).
			WithHint("try again in a while")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fault.New(fault.Unavailable, "%s cannot be fetched: %w", name(address), err).
		WithHint("check the URL and the network")
}

// watchdog cancels the context when too little happens for too long. What reads through
// alive happens.
func watchdog(ctx context.Context, silence time.Duration) (_ context.Context, alive func(io.Reader) io.Reader,
	stop func(),
) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := pace.New(silence, func() { cancel(errSilent) })
	return ctx, watch.Reader, func() { watch.Disarm(); cancel(nil) }
}

// The limits of a text of objects, and of each of its documents.
const (
	maxText      = 12 << 20
	maxTextMarks = 400_000
	maxTextDepth = 500
)

// objects gives a text back that has objects of Kubernetes and nothing else. The author of a bundle chooses the URL,
// and can read the content: what another server answers with is neither kept nor shown in an error.
func objects(text io.Reader) (io.Reader, error) {
	raw, err := io.ReadAll(io.LimitReader(text, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxText {
		return nil, tooLargeText("the text is larger than %d MiB", maxText>>20)
	}
	if areJSON(raw) {
		return bytes.NewReader(raw), nil
	}
	n := 0
	for before, document := range yamldoc.Documents(bytes.TrimPrefix(raw, []byte("\ufeff"))) {
		if yamldoc.Marks(document) > maxTextMarks {
			return nil, tooLargeText("the document after line %d has too many values", before)
		}
		top, problems := yamldoc.ReadWithin("", document, yamldoc.Limits{
			Bytes: maxText, Marks: maxTextMarks, Weight: 4 * maxText, Depth: maxTextDepth,
		})
		switch {
		case len(problems) > 0, top != nil && (!hasText(top, "apiVersion") || !hasText(top, "kind")):
			return nil, notObjects()
		case top != nil:
			n++
		}
	}
	if n == 0 {
		return nil, notObjects()
	}
	return bytes.NewReader(raw), nil
}

// areJSON says whether a text is objects in JSON, one after the other.
func areJSON(raw []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for n := 0; ; n++ {
		var object map[string]json.RawMessage
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return n > 0
		case err != nil, !isJSONText(object["apiVersion"]), !isJSONText(object["kind"]):
			return false
		}
	}
}

func isJSONText(raw json.RawMessage) bool { return len(raw) > len(`""`) && raw[0] == '"' }

// hasText says whether a field of a mapping is a text.
func hasText(top *yaml.Node, name string) bool {
	field := yamldoc.Field(top, name)
	return field != nil && field.Kind == yaml.ScalarNode && field.ShortTag() == "!!str" && field.Value != ""
}

func notObjects() error {
	return fault.New(fault.InvalidArgument, "this is neither an archive nor YAML of Kubernetes objects: each "+
		"document has to have apiVersion and kind").
		WithHint("check that it is the address of the file itself")
}

func tooLargeText(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).WithReason(content.ReasonTooLarge).
		WithHint("make an archive of several files")
}
