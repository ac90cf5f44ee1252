package transport

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"reflect"
	"time"
)

// settle finds out what a conflict means after an attempt whose answer was lost: the object is there because that
// attempt has created or updated it. It is taken for that if it has everything that was sent and has not been there
// before. The answer is the object then, as if it had not been lost.
func (t *retrier) settle(ctx context.Context, sent *request, response *http.Response, err error) (*http.Response,
	error,
) {
	if err != nil || !sent.lost || response.StatusCode != http.StatusConflict {
		return response, err
	}
	target, status := *sent.URL, http.StatusOK
	var wanted map[string]any
	if json.Unmarshal(sent.body, &wanted) != nil {
		return response, nil //nolint:nilerr // what cannot be read cannot be compared: it stays a conflict
	}
	metadata, _ := wanted["metadata"].(map[string]any)
	switch sent.Method {
	case http.MethodPost:
		name, _ := metadata["name"].(string)
		target.Path, status = path.Join(target.Path, name), http.StatusCreated
	case http.MethodPut:
		delete(metadata, "resourceVersion")
	default:
		return response, nil
	}
	found, text := t.get(ctx, sent, target.Path)
	since := t.serverTime(sent.began).Add(-clockGrain)
	if found == nil || found.StatusCode != http.StatusOK || !has(text, wanted, since, sent.Method == http.MethodPost) {
		return response, nil
	}
	_ = response.Body.Close()
	header := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: response.Proto, ProtoMajor: response.ProtoMajor,
		ProtoMinor: response.ProtoMinor,
		Header:     header, Body: again(text, http.NoBody), ContentLength: int64(len(text)), Request: sent.Request,
	}, nil
}

// clockGrain is how exact a time of creation is.
const clockGrain = time.Second

// get reads an object as JSON; nil if that fails.
func (t *retrier) get(ctx context.Context, sent *request, at string) (*http.Response, []byte) {
	r := sent.Clone(ctx)
	r.Method, r.Body, r.GetBody, r.ContentLength = http.MethodGet, nil, nil, 0
	r.URL.Path, r.URL.RawQuery = at, ""
	r.Header.Set("Accept", "application/json")
	r.Header.Del("Content-Type")
	response, err := t.RoundTrip(r)
	if err != nil {
		return nil, nil
	}
	defer response.Body.Close()
	text, whole := take(response)
	if !whole {
		return nil, nil
	}
	return response, text
}

// condition makes a removal whose answer was lost one of that very object, so that it can be sent again: an object of
// the same name that has been created since is another one. If there is none any more, the API server's answer that
// says so is returned.
func (t *retrier) condition(ctx context.Context, sent *request) (gone *http.Response) {
	if sent.Method != http.MethodDelete || !sent.replayable || isCollection(sent.URL.Path) {
		return nil
	}
	response, text := t.get(ctx, sent, sent.URL.Path)
	if response == nil {
		return nil
	}
	response.Body = again(text, http.NoBody)
	var o object
	options := map[string]any{}
	switch {
	case response.StatusCode == http.StatusNotFound:
		return response
	case response.StatusCode != http.StatusOK, json.Unmarshal(text, &o) != nil,
		len(sent.body) > 0 && json.Unmarshal(sent.body, &options) != nil,
		o.Metadata.CreationTimestamp.After(t.serverTime(sent.began).Add(-clockGrain)):
		return nil
	}
	options["preconditions"] = map[string]string{"uid": o.Metadata.UID}
	if body, err := json.Marshal(options); err == nil {
		sent.Header.Set("Content-Type", "application/json")
		sent.body, sent.repeatable = body, true
	}
	return nil
}

// serverTime is what the server's clock says at a time of this one, a second too early at most.
func (t *retrier) serverTime(at time.Time) time.Time { return at.Add(time.Duration(t.ahead.Load())) }

// has says whether an object has everything that was sent, and, if it was created, that it was not there before.
func has(text []byte, wanted map[string]any, since time.Time, created bool) bool {
	var found object
	var all map[string]any
	if json.Unmarshal(text, &found) != nil || json.Unmarshal(text, &all) != nil {
		return false
	}
	return (!created || !found.Metadata.CreationTimestamp.Before(since)) && includes(all, wanted)
}

// includes says whether everything of part is in all. The API server adds fields, and items at the end of lists; what
// is empty it leaves out.
func includes(all, part any) bool {
	switch part := part.(type) {
	case nil:
		return true
	case map[string]any:
		has, _ := all.(map[string]any)
		for key, value := range part {
			if !includes(has[key], value) {
				return false
			}
		}
		return true
	case []any:
		has, _ := all.([]any)
		if len(part) > len(has) {
			return false
		}
		for i := range part {
			if !includes(has[i], part[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(all, part)
}
