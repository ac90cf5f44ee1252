// Package record is what the proxy wrote down of a command's requests, and what
// can be read from it. Nothing here has effects.
package record

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Request is one request to the API server, as the proxy saw it.
type Request struct {
	Method string
	Path   string
	Query  string
	Status int
	// Arrived is when the client had sent it, before anything was added.
	Arrived time.Time
	// Answered is when the first part of the answer went to the client, Ended
	// when the last did; zero if that has not happened.
	Answered, Ended time.Time
}

// IsWatch is true for a request whose answer continues until either side ends it.
func (r Request) IsWatch() bool {
	query, err := url.ParseQuery(r.Query)
	if err != nil {
		return false
	}
	watch := query.Get("watch")
	return watch == "true" || watch == "1"
}

// Done is when the client could continue: a watch is open once it is answered.
func (r Request) Done() (time.Time, bool) {
	if r.IsWatch() {
		return r.Answered, !r.Answered.IsZero()
	}
	return r.Ended, !r.Ended.IsZero()
}

// Creates is true for a request that made an object of the chart. Secrets are
// release records and leases are locks: the chart has neither. Nor has it the
// ConfigMap that keeps the record of the job.
func (r Request) Creates() bool {
	if r.Status/100 != 2 || r.Method != http.MethodPost && r.Method != http.MethodPatch {
		return false
	}
	if strings.Contains(r.Path, "/configmaps/k8shell-job-") {
		return false // the record of the job
	}
	switch resource(r.Path) {
	case "", "secrets", "leases", "events":
		return false
	}
	return true
}

// resource is the plural in the path of a namespaced object or collection.
func resource(path string) string {
	_, rest, ok := strings.Cut(path, "/namespaces/")
	if !ok {
		return ""
	}
	_, rest, _ = strings.Cut(rest, "/")
	plural, _, _ := strings.Cut(rest, "/")
	return plural
}

// Created is when the last of n objects had been created; false if there were
// not as many.
func Created(requests []Request, n int) (time.Time, bool) {
	var last time.Time
	made := 0
	for _, r := range requests {
		done, ok := r.Done()
		if !ok || !r.Creates() {
			continue
		}
		made++
		if done.After(last) {
			last = done
		}
	}
	return last, made == n
}

// Begun are the requests that arrived before a moment, in that order.
func Begun(requests []Request, before time.Time) []Request {
	var out []Request
	for _, r := range requests {
		if r.Arrived.Before(before) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Request) int { return a.Arrived.Compare(b.Arrived) })
	return out
}

// Chain is the longest row of requests of which each arrived after the one
// before was done, all of them done at a moment. It is an upper bound of what
// depends on each other: of what only happens to come later nothing is known.
// With a delay far above the jitter between requests sent together it is exact.
func Chain(requests []Request, until time.Time) []Request {
	type finished struct {
		Request
		at time.Time
	}
	var all []finished
	for _, r := range requests {
		if at, ok := r.Done(); ok && !at.After(until) {
			all = append(all, finished{r, at})
		}
	}
	// Taking always what is done first leaves the most room for the others.
	slices.SortFunc(all, func(a, b finished) int { return cmp.Or(a.at.Compare(b.at), a.Arrived.Compare(b.Arrived)) })
	var chain []Request
	var last time.Time
	for _, r := range all {
		if !r.Arrived.Before(last) {
			chain, last = append(chain, r.Request), r.at
		}
	}
	return chain
}
