package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Client asks the driver that listens on a socket. It is a volume.Node.
type Client struct {
	Socket string
	// User is who asks, for the audit.
	User string
}

var _ volume.Node = Client{}

// Picture lists what is in its afterlife.
func (c Client) Picture(ctx context.Context) (picture volume.Picture, err error) {
	answer, done, err := c.do(ctx, http.MethodGet, pathPicture, nil)
	if err != nil {
		return picture, err
	}
	defer done()
	if err := json.NewDecoder(answer.Body).Decode(&picture); err != nil {
		return picture, fault.New(fault.Internal, "the driver's list cannot be read: %w", err)
	}
	return picture, nil
}

// Archive writes the files of a volume as a tar stream.
func (c Client) Archive(ctx context.Context, id string, to io.Writer) error {
	answer, done, err := c.do(ctx, http.MethodGet, pathArchive, url.Values{queryID: {id}})
	if err != nil {
		return err
	}
	defer done()
	_, err = io.Copy(to, answer.Body)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.Unavailable, "the driver has ended before it sent all of volume %s", id).WithHint("try again")
	case err != nil:
		return err
	}
	if failure, ok := ParseFailure(answer.Trailer.Get(trailerFailure)); ok {
		return failure
	}
	return nil
}

// Purge removes a volume now.
func (c Client) Purge(ctx context.Context, id string) error {
	_, done, err := c.do(ctx, http.MethodDelete, pathVolume, url.Values{queryID: {id}})
	if err == nil {
		done()
	}
	return err
}

// do sends a request, on a connection of its own.
func (c Client) do(ctx context.Context, method, path string, query url.Values) (answer *http.Response, done func(), err error) {
	at := url.URL{Scheme: "http", Host: "driver", Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, at.String(), http.NoBody)
	if err != nil {
		return nil, nil, fault.New(fault.Internal, "the driver cannot be asked: %w", err)
	}
	request.Header.Set(headerUser, headerText(c.User))
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.Socket)
	}}
	answer, err = (&http.Client{Transport: transport}).Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, fault.New(fault.Unavailable, "the driver does not answer on %s: %w", c.Socket, innermost(err)).
			WithHint("look at its log; --directory is its working directory")
	}
	if err := problem(answer); err != nil {
		return nil, nil, err
	}
	return answer, func() { answer.Body.Close() }, nil
}

// innermost leaves out the URL, which is none that anybody knows.
func innermost(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}

// headerText is a text that a header can have.
func headerText(text string) string {
	out := []byte(fault.Shorten(text, maxClaimed))
	for i, b := range out {
		if b < ' ' || b == 0x7f {
			out[i] = ' '
		}
	}
	return string(out)
}
