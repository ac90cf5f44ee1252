package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// request is a request that may be sent more than once.
type request struct {
	*http.Request
	body       []byte
	replayable bool // its body is known
	repeatable bool // also if it has been carried out already
	stream     bool // its answer has no end
	began      time.Time
	attempts   int
	lost       bool // an attempt may have been carried out
}

// newRequest reads the body of a request.
func newRequest(r *http.Request) (*request, error) {
	q := &request{Request: r, replayable: true, began: time.Now()}
	query := r.URL.Query()
	q.stream = query.Get("watch") != "" || path.Base(r.URL.Path) == "log"
	switch {
	case r.Body == nil || r.Body == http.NoBody:
	case r.GetBody == nil:
		q.replayable = false
	default:
		var err error
		if q.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	q.repeatable = q.replayable && repeatable(r, q.body)
	return q, nil
}

// attempt is the request to send next.
func (q *request) attempt(ctx context.Context) *http.Request {
	q.attempts++
	r := q.Clone(ctx) // credentials are added to its headers
	if q.body == nil {
		return r
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(q.body)), int64(len(q.body))
	return r
}

// object is what is of interest in a body.
type object struct {
	Metadata struct {
		Name, UID, ResourceVersion           string
		CreationTimestamp, DeletionTimestamp time.Time
	}
	Preconditions struct {
		UID, ResourceVersion string
	}
}

// repeatable says whether a request can be sent again though it may have been carried out: it only reads, it does the
// same again, or the API server refuses it then.
func repeatable(r *http.Request, body []byte) bool {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		return r.Header.Get("Upgrade") == ""
	case r.Method == http.MethodPatch && media == string(types.ApplyPatchType):
		return true
	case r.Method == http.MethodPatch && media == string(types.JSONPatchType):
		return isConditional(body)
	}
	var o object
	err := yaml.Unmarshal(body, &o)
	switch r.Method {
	case http.MethodPut, http.MethodPatch: // of a version, or the same again
		return true
	case http.MethodPost:
		return isReview(r) || err == nil && o.Metadata.Name != "" && !isSubresource(r)
	case http.MethodDelete:
		return err == nil && (o.Preconditions.UID != "" || o.Preconditions.ResourceVersion != "")
	}
	return false
}

// isConditional says whether a JSON patch (RFC 6902) tests what it changes, or is of one version.
func isConditional(patch []byte) bool {
	var operations []struct{ Op, Path string }
	if json.Unmarshal(patch, &operations) != nil {
		return false
	}
	for _, o := range operations {
		if o.Op == "test" || o.Path == "/metadata/resourceVersion" && o.Op != "remove" {
			return true
		}
	}
	return false
}

// isCollection tells pods from pods/alice: group, version, perhaps a namespace, resource.
func isCollection(at string) bool {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	before := 2 // api/v1
	if parts[0] == "apis" {
		before = 3
	}
	if len(parts) > before+2 && parts[before] == "namespaces" {
		before += 2
	}
	return len(parts) <= before+1
}

// isFollowedLog is true for a log that is followed: the answer begins with its first line, which may be any time.
func isFollowedLog(r *http.Request) bool {
	return path.Base(r.URL.Path) == "log" && r.URL.Query().Get("follow") == "true"
}

// isReview is true for a POST that asks something and creates nothing.
func isReview(r *http.Request) bool { return strings.HasSuffix(path.Base(r.URL.Path), "reviews") }

// isSubresource tells pods/alice/exec from pods: what is created there has no name of its own.
func isSubresource(r *http.Request) bool {
	_, rest, found := strings.Cut(r.URL.Path, "/namespaces/")
	return found && strings.Count(rest, "/") > 1
}
