package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// script is a server that answers each request with the next of its answers, and with the last one for ever.
type script struct {
	answers []any // a status, a reply, an error
	sent    []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	s.sent = append(s.sent, r.Method+" "+r.URL.Path+" "+string(body))
	next := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	switch next := next.(type) {
	case int:
		return reply{status: next}.response(), nil
	case reply:
		return next.response(), nil
	case error:
		return nil, next
	}
	panic("no answer")
}

// reply is an answer of a script.
type reply struct {
	status int
	body   string
	header []string // names and values in turn
	breaks bool     // it breaks off after the body
}

func respond(status int, body string, header ...string) reply {
	return reply{status: status, body: body, header: header}
}

func (a reply) response() *http.Response {
	var body io.Reader = strings.NewReader(a.body)
	if a.breaks {
		body = io.MultiReader(body, broken{})
	}
	r := &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Header: http.Header{},
		Body: io.NopCloser(body),
	}
	for i := 0; i < len(a.header); i += 2 {
		r.Header.Set(a.header[i], a.header[i+1])
	}
	return r
}

var (
	reset   = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	refused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
)

const (
	pods       = "/api/v1/namespaces/team/pods"
	named      = `{"metadata":{"name":"alice"}}`
	atUID      = `{"preconditions":{"uid":"x"}}`
	atRev      = `{"metadata":{"name":"alice","resourceVersion":"7"}}`
	atRevision = `[{"op":"replace","path":"/metadata/managedFields","value":[]},` +
		`{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`
	tested = `[{"op":"test","path":"/metadata/uid","value":"x"},{"op":"add","path":"/x","value":1}]`
)

// received is an answer that has been read and closed.
type received struct {
	status int
	header http.Header
	text   string
}

// receive sends a request and reads its answer.
func receive(client http.RoundTripper, r *http.Request) (received, error) {
	response, err := client.RoundTrip(r)
	if err != nil {
		return received{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return received{response.StatusCode, response.Header, string(text)}, err
}

func send(ctx context.Context, next http.RoundTripper, method, at, media, body string) (received, error) {
	var content io.Reader
	if body != "" {
		content = bytes.NewReader([]byte(body))
	}
	r, err := http.NewRequestWithContext(ctx, method, "https://cluster"+at, content)
	if err != nil {
		return received{}, err
	}
	r.Header.Set("Content-Type", media)
	return receive(New(next, Options{Server: "the API server"}), r)
}

// What is sent again after which failure, and how often.
func TestRetry(t *testing.T) {
	const json, patch, apply = "application/json", "application/json-patch+json", "application/apply-patch+yaml"
	for name, c := range map[string]struct {
		method, at, media, body string
		answers                 []any
		sent, status            int // status 0: UNAVAILABLE
	}{
		"a read after a 500":         {"GET", pods, json, "", []any{500, 200}, 2, 200},
		"a read after resets":        {"GET", pods, json, "", []any{reset, io.EOF, 503, 200}, 4, 200},
		"a watch after a 502":        {"GET", pods + "?watch=true", json, "", []any{502, 200}, 2, 200},
		"a log after a 504":          {"GET", pods + "/alice/log", json, "", []any{504, 200}, 2, 200},
		"what is not there":          {"GET", pods, json, "", []any{404, 200}, 1, 404},
		"a server that knows it not": {"GET", pods, json, "", []any{501, 200}, 1, 501},
		"a webhook": {
			"POST", pods, json, named,
			[]any{respond(500, "failed calling webhook"), 200},
			1, 500,
		},
		"500 for ever": {"GET", pods, json, "", []any{500}, attempts, 500},
		"429 for ever": {
			"GET", pods, json, "",
			[]any{respond(429, "", "Retry-After", "4")},
			3,
			429,
		},
		"429 with a long wait": {
			"GET", pods, json, "",
			[]any{respond(429, "", "Retry-After", "60")},
			1,
			429,
		},
		"resets for ever":    {"GET", pods, json, "", []any{reset}, attempts, 0},
		"a refusal for ever": {"GET", pods, json, "", []any{refused}, firstAttempts, 0},
		"a plugin that fails": {
			"GET", pods, json, "",
			[]any{errors.New("getting credentials: exit 1"), 200},
			1, -1,
		},
		"a named object": {"POST", pods, json, named, []any{500, 201}, 2, 201},
		"a generated name after a 500": {
			"POST", pods, json, `{"metadata":{"generateName":"a-"}}`,
			[]any{500, 201},
			1, 500,
		},
		"a generated name that was not accepted": {
			"POST", pods, json, `{"metadata":{"generateName":"a-"}}`,
			[]any{429, refused, 201},
			3, 201,
		},
		"a review": {
			"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", json,
			`{}`,
			[]any{reset, 201},
			2, 201,
		},
		"an eviction":              {"POST", pods + "/alice/eviction", json, named, []any{500, 201}, 1, 500},
		"an exec":                  {"POST", pods + "/alice/exec", json, "", []any{reset, 200}, 1, 0},
		"an update of a version":   {"PUT", pods + "/alice", json, atRev, []any{reset, 200}, 2, 200},
		"an update of any version": {"PUT", pods + "/alice", json, named, []any{500, 200}, 2, 200},
		"an apply":                 {"PATCH", pods + "/alice", apply, "x: y", []any{502, 200}, 2, 200},
		"a patch with tests":       {"PATCH", pods + "/alice", patch, tested, []any{502, 200}, 2, 200},
		"a patch without": {
			"PATCH", pods + "/alice", patch, `[{"op":"add"}]`,
			[]any{502, 200},
			1,
			502,
		},
		"a patch of one version": {"PATCH", pods + "/alice", patch, atRevision, []any{502, 200}, 2, 200},
		"a patch with the word in a value": {
			"PATCH", pods + "/alice", patch,
			`[{"op":"add","path":"/x","value":["test","/metadata/resourceVersion"]}]`,
			[]any{502, 200},
			1, 502,
		},
		"a patch with an operation in a value": {
			"PATCH", pods + "/alice", patch,
			`[{"op":"add","path":"/x","value":{"op":"test","path":"/metadata/resourceVersion"}}]`,
			[]any{502, 200},
			1, 502,
		},
		"a patch that removes the version": {
			"PATCH", pods + "/alice", patch,
			`[{"op":"remove","path":"/metadata/resourceVersion"},{"op":"add","path":"/x/-","value":1}]`,
			[]any{502, 200},
			1,
			502,
		},
		"a body that is no list of operations": {
			"PATCH", pods + "/alice", patch, `{"op":"test"}`,
			[]any{502, 200},
			1,
			502,
		},
		"a removal of one UID": {"DELETE", pods + "/alice", json, atUID, []any{503, 404}, 2, 404},
		"a removal of several": {"DELETE", pods, json, "", []any{503, 404}, 1, 503},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &script{answers: c.answers}
				got, err := send(t.Context(), server, c.method, c.at, c.media, c.body)
				switch {
				case len(server.sent) != c.sent:
					t.Errorf("sent %d times, want %d", len(server.sent), c.sent)
				case c.status > 0 && (err != nil || got.status != c.status):
					t.Errorf("%v, %v; want %d", got, err, c.status)
				case c.status == 0 && fault.CodeOf(err) != fault.Unavailable:
					t.Errorf("%v, want UNAVAILABLE", err)
				case c.status < 0 && err == nil:
					t.Error("no error")
				}
				if err == nil && got.header.Get("Retry-After") != "" && got.status >= 429 {
					t.Error("client-go would send it again")
				}
				for _, sent := range server.sent {
					if sent != server.sent[0] {
						t.Errorf("sent %q, then %q", server.sent[0], sent)
					}
				}
			})
		})
	}
}

// A server that has answered and is started again is waited for.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &script{answers: []any{200, reset, refused, refused, refused, refused, refused, refused, 200}}
		client := New(server, Options{})
		begin := time.Now()
		for range 2 {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cluster"+pods, http.NoBody)
			if got, err := receive(client, r); err != nil || got.status != 200 {
				t.Fatal(got, err)
			}
		}
		if took := time.Since(begin); took > patience {
			t.Error("after", took)
		}
	})
}

// Nothing is waited for that would not be there before the end of the context.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		server := &script{answers: []any{respond(429, "", "Retry-After", "3")}}
		begin := time.Now()
		got, err := send(ctx, server, "GET", pods, "", "")
		if err != nil || got.status != 429 || time.Since(begin) > 0 {
			t.Errorf("%v, %v after %s", got, err, time.Since(begin))
		}
	})
}

// An answer that breaks off is asked for again.
func TestBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := reply{status: 200, body: "hal", breaks: true}
		server := &script{answers: []any{half, respond(200, "whole")}}
		got, err := send(t.Context(), server, "GET", pods, "", "")
		if got.text != "whole" || err != nil {
			t.Errorf("%q, %v", got.text, err)
		}
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A POST whose answer was lost and that meets the object then has created it, if the object has all that was sent and
// was not there before.
func TestLostAnswer(t *testing.T) {
	const (
		date = "Sat, 01 Jan 2000 00:00:00 GMT" // when a synctest bubble begins
		mine = `{"metadata":{"name":"alice","creationTimestamp":"2000-01-01T00:00:00Z","uid":"1",` +
			`"labels":{"a":"b"}},"spec":{"volumes":[{"name":"x"},{"name":"added"}],"nodeName":"n"}}`
		body = `{"metadata":{"name":"alice","creationTimestamp":null,"labels":{"a":"b"}},` +
			`"spec":{"volumes":[{"name":"x"}]},"status":{}}`
	)
	for name, c := range map[string]struct {
		method, body, found string
		status              int
	}{
		"it is that one": {"POST", body, mine, 201},
		"it is older": {
			"POST", body, strings.Replace(mine, "2000-01-01T00:00:00Z", "1999-12-31T23:59:00Z", 1),
			409,
		},
		"it has another label": {"POST", body, strings.Replace(mine, `"a":"b"`, `"a":"c"`, 1), 409},
		"it lacks a volume":    {"POST", body, strings.Replace(mine, `{"name":"x"},`, ``, 1), 409},
		"an update that is there": {
			"PUT", strings.Replace(body, `"labels"`, `"resourceVersion":"1","labels"`, 1), mine,
			200,
		},
		"an update that is not": {
			"PUT", strings.Replace(body, `"labels"`, `"resourceVersion":"1","labels"`, 1),
			`{"metadata":{"name":"bob"}}`, 409,
		},
		"it is gone in the end":    {"POST", body, "", 409},
		"what it says is not JSON": {"POST", body, "<html>", 409},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				found := respond(200, c.found, "Date", date)
				if c.found == "" {
					found = respond(404, "")
				}
				server := &script{answers: []any{reset, respond(409, "it exists"), found}}
				at := pods
				if c.method == "PUT" {
					at += "/alice"
				}
				got, err := send(t.Context(), server, c.method, at, "application/json", c.body)
				if err != nil || got.status != c.status {
					t.Fatalf("%v, %v", got, err)
				}
				if want := map[bool]string{true: "it exists", false: mine}[c.status == 409]; got.text != want {
					t.Errorf("the answer is %s", got.text)
				}
				if asked := server.sent[2]; asked != "GET "+pods+"/alice " {
					t.Errorf("asked %q", asked)
				}
			})
		})
	}
}

// A removal by name whose answer was lost is sent again for that very object.
func TestLostRemoval(t *testing.T) {
	const date = "Sat, 01 Jan 2000 00:01:00 GMT"
	object := func(created string) reply {
		return respond(200, `{"metadata":{"uid":"u","creationTimestamp":"`+created+`"}}`, "Date", date)
	}
	const once, again = "DELETE " + pods + "/alice ", `DELETE ` + pods + `/alice {"preconditions":{"uid":"u"}}`
	for name, c := range map[string]struct {
		found  reply
		status int
		last   string
	}{
		"it is there":   {object("2000-01-01T00:00:00Z"), 200, again},
		"it is gone":    {respond(404, ""), 404, "GET " + pods + "/alice "},
		"it is another": {object("2000-01-01T00:01:30Z"), 500, "GET " + pods + "/alice "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &script{answers: []any{500, c.found, 200}}
				time.Sleep(time.Minute)
				got, err := send(t.Context(), server, "DELETE", pods+"/alice", "application/json", "")
				if err != nil || got.status != c.status || server.sent[0] != once ||
					server.sent[len(server.sent)-1] != c.last {
					t.Errorf("%v, %v, %q", got, err, server.sent)
				}
			})
		})
	}
}

// Without a lost answer a conflict is one, and nothing is asked.
func TestConflict(t *testing.T) {
	server := &script{answers: []any{409}}
	if got, err := send(t.Context(), server, "POST", pods, "", named); err != nil || got.status != 409 ||
		len(server.sent) != 1 {
		t.Errorf("%v, %v, %q", got, err, server.sent)
	}
}

// A caller that repeats by itself is not helped.
func TestOnce(t *testing.T) {
	server := &script{answers: []any{respond(503, "", "Retry-After", "1"), 200}}
	got, err := send(Once(t.Context()), server, "GET", pods, "", "")
	if err != nil || got.status != 503 || len(server.sent) != 1 {
		t.Errorf("%v, %v, %q", got, err, server.sent)
	}
}
