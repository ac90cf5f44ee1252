package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/berthdev/berth/internal/fault"
)

// kind says what a failed request has done.
type kind int

const (
	none     kind = iota // it has not failed, or would fail again
	rejected             // it has not been carried out
	lost                 // whether it has is not known
)

// failure is how one attempt has ended.
type failure struct {
	kind     kind
	response bool          // there is an answer
	after    time.Duration // when to come again, if the server says so
	what     string        // for people
	err      error
}

// failureOf judges an attempt. It reads an answer, unless it is a stream or large,
// since that may break off, too.
func failureOf(response *http.Response, err error, stream bool) failure {
	if err == nil && (!stream || response.StatusCode >= http.StatusBadRequest) {
		if err = readAhead(response); err != nil {
			_ = response.Body.Close()
		}
	}
	switch {
	case err != nil:
		return failureOfConnection(err)
	case response.StatusCode == http.StatusTooManyRequests:
		return failure{kind: rejected, response: true, after: retryAfter(response), what: "it answered " + response.Status}
	case response.StatusCode == http.StatusInternalServerError && isOfWebhook(response),
		response.StatusCode < http.StatusInternalServerError, response.StatusCode > http.StatusGatewayTimeout,
		response.StatusCode == http.StatusNotImplemented:
		return failure{}
	}
	return failure{kind: lost, response: true, after: retryAfter(response), what: "it answered " + response.Status}
}

func failureOfConnection(err error) failure {
	operation, ok := errors.AsType[*net.OpError](err)
	switch {
	case ok && operation.Op == "dial" && utilnet.IsConnectionRefused(err):
		return failure{kind: rejected, what: "connection refused", err: err}
	case utilnet.IsConnectionReset(err):
		return failure{kind: lost, what: "the connection was reset", err: err}
	case utilnet.IsProbableEOF(err), utilnet.IsHTTP2ConnectionLost(err), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.Contains(err.Error(), "GOAWAY"):
		return failure{kind: lost, what: "the connection broke off", err: err}
	}
	return failure{err: err}
}

// end is what a request ends with that is not sent again. client-go takes an answer
// without Retry-After, and an error that it does not know, as final.
func (f failure) end(response *http.Response, attempts int) (*http.Response, error) {
	if f.response {
		response.Header.Del("Retry-After")
		return response, nil
	}
	message := f.what
	if f.kind == rejected {
		message = f.err.Error() // it names the address
	}
	if attempts > 1 {
		message += fmt.Sprintf(" (tried %d times)", attempts)
	}
	return nil, fault.New(fault.Unavailable, "the cluster cannot be reached: %s", message).
		WithHint("check the network and the server of the current context (kubectl config view --minify)")
}

// isOfWebhook is true for the answer of the API server when an admission webhook
// refuses or does not answer: asking again takes its whole time-out again.
func isOfWebhook(response *http.Response) bool {
	text, _ := take(response)
	response.Body = again(text, response.Body)
	return bytes.Contains(text, []byte("webhook"))
}

// wholeSize is how much of an answer is read ahead. A larger one that breaks off is
// not asked for again.
const wholeSize = 1 << 20

// readAhead reads an answer to its end if it is not large.
func readAhead(response *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, wholeSize))
	response.Body = again(text, response.Body)
	return err
}

// again is a body whose beginning has been read.
func again(text []byte, rest io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), rest}
}

// take reads an answer that is not large.
func take(response *http.Response) (text []byte, whole bool) {
	text, err := io.ReadAll(io.LimitReader(response.Body, wholeSize))
	return text, err == nil && len(text) < wholeSize
}
