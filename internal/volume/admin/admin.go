// Package admin is how an administrator asks the driver of a node about scratch volumes: HTTP over a unix socket, which
// only root can connect to. What connects is another process in the driver's container; package nodes runs it there.
package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Path is the socket in a working directory.
func Path(directory string) string { return filepath.Join(directory, volume.Socket) }

// The paths of requests. The ID of a volume is in the query.
const (
	pathPicture = "/v1/picture"
	pathArchive = "/v1/archive"
	pathVolume  = "/v1/volume"
	queryID     = "id"
)

const (
	// headerUser is who asks, as the client says.
	headerUser = "Berth-User"
	// trailerFailure is how an archive failed that had begun already.
	trailerFailure = "Berth-Failure"
)

// maxFailure is how much of an error is read, in bytes.
const maxFailure = 64 << 10

// Failure is an error on its way to another process.
type Failure struct {
	Code     fault.Code `json:"code"`
	Message  string     `json:"message"`
	Hint     string     `json:"hint,omitempty"`
	Problems []string   `json:"problems,omitempty"`
}

// Go's client reads 4 KiB of trailers: an error's message has to fit, with its escapes.
const (
	longestTrailer = 3500 // bytes
	longestMessage = 500
)

// FailureOf is an error as it is sent.
func FailureOf(err error) Failure {
	f := fault.From(err)
	return Failure{Code: f.Code, Message: fault.Shorten(f.Message, longestMessage), Hint: f.Hint, Problems: f.Problems}
}

// Trailer is Text as far as it fits a trailer: of an error that is too long, the message.
func (f Failure) Trailer() string {
	if text := f.Text(); len(text) <= longestTrailer {
		return text
	}
	return Failure{Code: f.Code, Message: f.Message}.Text()
}

// Text is the failure as one line of JSON.
func (f Failure) Text() string {
	text, err := json.Marshal(f)
	if err != nil {
		return "{}" // texts are JSON
	}
	return string(text)
}

// ParseFailure reads an error that was sent; it is nil for anything else.
func ParseFailure(text string) error {
	var f Failure
	if notJSON := json.Unmarshal([]byte(strings.TrimSpace(text)), &f); notJSON != nil || f.Code == "" {
		return nil //nolint:nilerr // it is no error of anybody's
	}
	failed := fault.New(f.Code, "%s", f.Message)
	if f.Hint != "" {
		failed = failed.WithHint("%s", f.Hint)
	}
	for _, problem := range f.Problems {
		failed.Problems = append(failed.Problems, fault.Line(problem))
	}
	return failed
}

// Status is the HTTP status of a code; what the code is, the body says.
func Status(code fault.Code) int {
	switch code {
	case fault.InvalidArgument:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict, fault.AlreadyExists:
		return http.StatusConflict
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// problem is the error of an answer; nil for one that says that it was done.
func problem(answer *http.Response) error {
	if answer.StatusCode < http.StatusBadRequest {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxFailure))
	if err := ParseFailure(string(text)); err != nil {
		return err
	}
	return fault.New(fault.Internal, "the driver answers %s: %s", answer.Status, strings.TrimSpace(string(text)))
}

// stall is how long the other end may take to read a piece of an archive: meanwhile the
// volume cannot be removed, however full the disk is.
const stall = time.Minute
