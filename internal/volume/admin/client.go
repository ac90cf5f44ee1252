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
	// User is the one that asks, for the audit.
	User string
}

var _ volume.Node = Client{}

// Picture lists what is in its afterlife.
func (c Client) Picture(ctx context.Context) (picture volume.Picture, err error) {
	err = c.do(ctx, http.MethodGet, pathPicture, nil, func(answer *http.Response) error {
		if err := json.NewDecoder(answer.Body).Decode(&picture); err != nil {
			return fault.New(fault.Internal, "the driver's list cannot be read: %w", err)
		}
		return nil
	})
	return picture, err
}

// CopyPicture writes the picture as the driver sends it: a node can have many volumes.
func (c Client) CopyPicture(ctx context.Context, to io.Writer) error {
	return c.do(ctx, http.MethodGet, pathPicture, nil, func(answer *http.Response) error {
		_, err := io.Copy(to, answer.Body)
		return err
	})
}

// Archive writes the files of a volume as a tar stream.
func (c Client) Archive(ctx context.Context, id string, to io.Writer) error {
	return c.do(ctx, http.MethodGet, pathArchive, url.Values{queryID: {id}}, func(answer *http.Response) error {
		_, err := io.Copy(to, answer.Body)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fault.New(fault.Unavailable, "the driver has ended before it sent all of volume %s", id).
				WithHint("try again")
		case err != nil:
			return err
		}
		return ParseFailure(answer.Trailer.Get(trailerFailure))
	})
}

// Purge removes a volume now.
func (c Client) Purge(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, pathVolume, url.Values{queryID: {id}},
		func(*http.Response) error { return nil })
}

// do sends a request, on a connection of its own, and reads the answer unless that is an error.
func (c Client) do(ctx context.Context, method, path string, query url.Values, read func(*http.Response) error) error {
	at := url.URL{Scheme: "http", Host: "driver", Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, at.String(), http.NoBody)
	if err != nil {
		return fault.New(fault.Internal, "the driver cannot be asked: %w", err)
	}
	request.Header.Set(headerUser, headerText(c.User))
	transport := &http.Transport{
		DisableCompression: true, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", c.Socket)
		},
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fault.New(fault.Unavailable, "the driver does not answer on %s: %w", c.Socket, innermost(err)).
			WithHint("look at its log; --directory is its working directory")
	}
	defer answer.Body.Close()
	if err := problem(answer); err != nil {
		return err
	}
	return read(answer)
}

// innermost leaves out the URL, which nobody knows.
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
