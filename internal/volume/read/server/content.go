package server

import (
	"context"
	"io"
	"net/http"

	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/read"
)

// list answers with what is in a directory.
func (s *Server) list(w http.ResponseWriter, r *http.Request, v volume.Volume) {
	var listing volume.Listing
	err := s.Node.Read(r.Context(), v.ID, func(ctx context.Context, files volume.Files) (err error) {
		listing, err = files.List(ctx, r.URL.Query().Get(read.KeyPath))
		return err
	})
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, listing)
}

// file sends a file, or the range of it that is asked for.
func (s *Server) file(w http.ResponseWriter, r *http.Request, v volume.Volume) {
	begun := false
	err := s.Node.Read(r.Context(), v.ID, func(ctx context.Context, files volume.Files) error {
		file, err := files.Open(r.URL.Query().Get(read.KeyPath))
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		begun = true
		header := w.Header()
		header.Set("Content-Type", "application/octet-stream") // whatever a pod has written, no browser shows it
		header.Set("Content-Disposition", "attachment")
		header.Set("X-Content-Type-Options", "nosniff")
		sent := &content{ctx: ctx, ReadSeeker: file}
		http.ServeContent(w, r, "", info.ModTime(), sent)
		return sent.err
	})
	s.end(w, r, begun, err)
}

// end ends an answer that may have begun. One that is not whole ends with its connection, so that nobody takes it for
// whole.
func (s *Server) end(w http.ResponseWriter, r *http.Request, begun bool, err error) {
	switch {
	case err == nil:
	case !begun:
		fail(w, r, err)
	default:
		note(r, err)
		panic(http.ErrAbortHandler) // as net/http wants it
	}
}

// content is a file that is not read any more when a context ends.
type content struct {
	io.ReadSeeker
	ctx context.Context //nolint:containedctx // of one answer
	err error
}

// Read reads.
func (c *content) Read(b []byte) (n int, err error) {
	if err = c.ctx.Err(); err == nil {
		n, err = c.ReadSeeker.Read(b)
	}
	if err != nil && err != io.EOF { //nolint:errorlint // as a reader returns it
		c.err = err
	}
	return n, err
}

// archive sends a directory, or a file, as a tar stream.
func (s *Server) archive(w http.ResponseWriter, r *http.Request, v volume.Volume) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	to := &started{Writer: w, begin: func() { w.Header().Set("Content-Type", "application/x-tar") }}
	err := s.Node.Read(r.Context(), v.ID, func(ctx context.Context, files volume.Files) error {
		return files.Archive(ctx, r.URL.Query().Get(read.KeyPath), to)
	})
	s.end(w, r, to.begun, err)
}

// started is an answer that knows whether it has begun.
type started struct {
	io.Writer
	begin func()
	begun bool
}

// Write sends.
func (s *started) Write(b []byte) (int, error) {
	if !s.begun {
		s.begun = true
		s.begin()
	}
	return s.Writer.Write(b)
}
