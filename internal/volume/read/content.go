package read

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Volume is a volume at the driver that has it.
type Volume struct {
	Driver Driver
	// Node is the name of the driver's node.
	Node          string
	Namespace, ID string
}

// List lists a directory of the volume.
func (v Volume) List(ctx context.Context, path string) (listing volume.Listing, err error) {
	err = v.Driver.document(ctx, pathOf(v.Namespace, v.ID, "list"), url.Values{KeyPath: {path}}, &listing)
	return listing, err
}

// Span is a part of a file: of HTTP, without the unit. Empty is all of it.
type Span string

// From is a file without its first bytes, and Last are its last ones.
func From(offset int64) Span { return Span(fmt.Sprintf("%d-", offset)) }

// Last are the last bytes of a file: all of one that has no more.
func Last(n int64) Span { return Span(fmt.Sprintf("-%d", n)) }

// Between are the bytes from one to another, which is the last one of them.
func Between(first, last int64) Span { return Span(fmt.Sprintf("%d-%d", first, last)) }

// File writes a file, or a part of it.
func (v Volume) File(ctx context.Context, path string, part Span, to io.Writer) error {
	span := ""
	if part != "" {
		span = "bytes=" + string(part)
	}
	response, err := v.Driver.do(ctx, pathOf(v.Namespace, v.ID, "file"), url.Values{KeyPath: {path}}, span)
	if err != nil {
		return v.orRemoved(ctx, err, 0)
	}
	defer response.Body.Close()
	if part != "" && response.StatusCode != http.StatusPartialContent && response.ContentLength != 0 {
		return fault.New(fault.Failed, "%s sends all of a file of which a part was asked for", v.Driver).
			WithHint("something on the way to it may know no ranges")
	}
	return v.copy(ctx, response, to)
}

// Archive writes a directory, or a file, as a tar stream.
func (v Volume) Archive(ctx context.Context, path string, to io.Writer) error {
	response, err := v.Driver.do(ctx, pathOf(v.Namespace, v.ID, "archive"), url.Values{KeyPath: {path}}, "")
	if err != nil {
		return v.orRemoved(ctx, err, 0)
	}
	defer response.Body.Close()
	return v.copy(ctx, response, to)
}

// copy writes what is sent. What does not arrive as a whole is an error: that of the volume, if it was removed
// meanwhile.
func (v Volume) copy(ctx context.Context, response *http.Response, to io.Writer) error {
	sink := &sink{to: to}
	n, err := io.Copy(sink, response.Body)
	switch {
	case sink.err != nil:
		return sink.err
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil && (response.ContentLength < 0 || n == response.ContentLength):
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return v.orRemoved(ctx, fault.New(fault.Unavailable,
		"%s has ended the answer after %d bytes, before all was sent: %w", v.Driver, n, err).
		WithHint("try again"), n)
}

// orRemoved is the error of an answer that the driver has ended: that the volume was removed meanwhile, if it was.
func (v Volume) orRemoved(ctx context.Context, err error, n int64) error {
	if fault.CodeOf(err) != fault.Unavailable {
		return err
	}
	_, why := v.Driver.Volume(ctx, v.Namespace, v.ID)
	if fault.ReasonOf(why) != volume.ReasonRemoved {
		return err
	}
	f := fault.From(why)
	return fault.New(f.Code, "%s; what has arrived until then, %d bytes, is not all", f.Message, n).
		WithReason(f.Reason).WithHint("%s", f.Hint)
}

// sink tells what cannot be written from what cannot be read.
type sink struct {
	to  io.Writer
	err error
}

// Write writes.
func (s *sink) Write(b []byte) (int, error) {
	n, err := s.to.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.err = errors.Join(s.err, err)
	}
	return n, err
}
