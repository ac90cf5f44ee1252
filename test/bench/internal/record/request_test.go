package record

import (
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func call(method, path string, from, to int) Request {
	return Request{Method: method, Path: path, Status: 200, Arrived: at(from), Answered: at(to), Ended: at(to)}
}

func watch(from, answered int) Request {
	r := call("GET", "/api/v1/namespaces/ns/pods", from, answered)
	r.Query, r.Ended = "watch=true", time.Time{}
	return r
}

func sample() []Request {
	return []Request{
		call("GET", "/api/v1/namespaces/ns/pods", 0, 40),
		call("GET", "/api/v1/namespaces/ns/secrets", 0, 45),
		watch(46, 90),
		call("POST", "/apis/coordination.k8s.io/v1/namespaces/ns/leases", 46, 88),
		call("POST", "/api/v1/namespaces/ns/secrets", 91, 135),
		call("POST", "/api/v1/namespaces/ns/configmaps", 136, 180),
		call("POST", "/api/v1/namespaces/ns/services", 136, 190),
		call("POST", "/api/v1/namespaces/ns/pods", 191, 240),
		call("PUT", "/api/v1/namespaces/ns/secrets/x", 241, 290),
		call("PATCH", "/api/v1/namespaces/ns/configmaps/k8shell-job-1", 242, 291),
	}
}

func TestCreated(t *testing.T) {
	created, ok := Created(sample(), 3)
	if !ok || created != at(240) {
		t.Errorf("three objects are created at %v, %v", created.Sub(start), ok)
	}
	if _, ok := Created(sample(), 4); ok {
		t.Error("records and locks count as objects")
	}
	failed := sample()
	failed[5].Status = 409
	if _, ok := Created(failed, 3); ok {
		t.Error("a refused request counts as a creation")
	}
}

func TestBegunIsSortedAndLeavesOutWhatComesLater(t *testing.T) {
	requests := sample()
	requests[0], requests[7] = requests[7], requests[0]
	begun := Begun(requests, at(240))
	if len(begun) != 8 || !begun[0].Arrived.Equal(at(0)) || begun[7].Path != "/api/v1/namespaces/ns/pods" {
		t.Errorf("%d requests begun before everything was created: %+v", len(begun), begun)
	}
}

func TestChain(t *testing.T) {
	for name, test := range map[string]struct {
		requests []Request
		until    time.Time
		want     int
	}{
		"nothing":           {nil, at(1000), 0},
		"the whole flow":    {sample(), at(240), 5},
		"only what is done": {sample(), at(100), 2},
		"side by side": {
			[]Request{call("GET", "/a", 0, 40), call("GET", "/b", 1, 41), call("GET", "/c", 2, 42)},
			at(100), 1,
		},
		"one after the other": {[]Request{
			call("GET", "/a", 0, 40), call("GET", "/b", 40, 80),
			call("GET", "/c", 80, 120),
		}, at(200), 3},
		"a long one beside two": {[]Request{
			call("GET", "/long", 0, 100), call("GET", "/a", 0, 40),
			call("GET", "/b", 41, 81),
		}, at(200), 2},
		"an open watch is done":   {[]Request{watch(0, 40), call("GET", "/b", 41, 81)}, at(200), 2},
		"an unanswered one isn't": {[]Request{{Method: "GET", Arrived: at(0)}, call("GET", "/b", 41, 81)}, at(200), 1},
	} {
		if got := len(Chain(test.requests, test.until)); got != test.want {
			t.Errorf("%s: %d round trips, want %d", name, got, test.want)
		}
	}
}
