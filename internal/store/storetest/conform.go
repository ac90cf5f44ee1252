// Package storetest is for tests: what every store has to do, and a real server of NATS.
package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

// Conform tests that an empty store keeps the contract of store.Store.
func Conform(t *testing.T, s store.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"what does not exist is not found", missing},
		{"a document is written and read", written},
		{"an update needs the newest revision", updated},
		{"a deletion needs the revision that it names", deleted},
		{"no concurrent update is lost", counted},
		{"a document is watched until it is deleted", watched},
		{"all documents are watched", allWatched},
		{"a watch ends with its context", watchEnds},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, s)
			for _, d := range must(s.List(t.Context()))(t) {
				check(t, s.Delete(t.Context(), d.Key, ""))
			}
		})
	}
}

func missing(t *testing.T, s store.Store) {
	for _, key := range []string{"a", "*", ">", "a b", "a/b", ""} {
		_, err := s.Get(t.Context(), key)
		wantCode(t, fmt.Sprintf("get %q", key), err, fault.NotFound)
		if key != "" {
			err = s.Watch(within(t), key, func(store.Document) bool { return true })
			wantCode(t, fmt.Sprintf("watch %q", key), err, fault.NotFound)
		}
	}
	check(t, s.Delete(t.Context(), "a", ""))
	if all := must(s.List(t.Context()))(t); len(all) != 0 {
		t.Errorf("an empty store lists %+v", all)
	}
}

func written(t *testing.T, s store.Store) {
	first := put(t, s, "a", "1")
	second := put(t, s, "a", `{"n": "2 <&>"}`)
	if first == second || first == "" || second == "" {
		t.Errorf("the revisions are %q, then %q", first, second)
	}
	d := must(s.Get(t.Context(), "a"))(t)
	if d.Key != "a" || string(d.Value) != `{"n": "2 <&>"}` || d.Revision != second {
		t.Errorf("got %+v, want revision %q", d, second)
	}
	put(t, s, "b", "3")
	var keys []string
	for _, d := range must(s.List(t.Context()))(t) {
		keys = append(keys, d.Key+"="+string(d.Value))
	}
	slices.Sort(keys)
	if want := []string{"a=" + string(d.Value), "b=3"}; !slices.Equal(keys, want) {
		t.Errorf("listed %q, want %q", keys, want)
	}
}

func updated(t *testing.T, s store.Store) {
	update := func(value, revision string) (string, error) {
		return s.Update(t.Context(), store.Document{Key: "a", Value: []byte(value), Revision: revision})
	}
	first := must(update("1", ""))(t)
	_, err := update("again", "")
	wantCode(t, "create what exists", err, fault.Conflict)
	second := must(update("2", first))(t)
	_, err = update("late", first)
	wantCode(t, "update an old revision", err, fault.Conflict)
	if d := must(s.Get(t.Context(), "a"))(t); string(d.Value) != "2" || d.Revision != second {
		t.Errorf("got %+v, want 2 of revision %q", d, second)
	}
	third := put(t, s, "a", "3")
	_, err = update("late", second)
	wantCode(t, "update what was put", err, fault.Conflict)
	must(update("4", third))(t)
	check(t, s.Delete(t.Context(), "a", ""))
	_, err = update("late", third)
	wantCode(t, "update what was deleted", err, fault.Conflict)
	if _, err := s.Get(t.Context(), "a"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an update created again what was deleted: %v", err)
	}
	must(update("5", ""))(t)
}

func deleted(t *testing.T, s store.Store) {
	first := put(t, s, "a", "1")
	second := put(t, s, "a", "2")
	wantCode(t, "delete an old revision", s.Delete(t.Context(), "a", first), fault.Conflict)
	if d := must(s.Get(t.Context(), "a"))(t); string(d.Value) != "2" {
		t.Errorf("got %+v, want 2", d)
	}
	check(t, s.Delete(t.Context(), "a", second))
	_, err := s.Get(t.Context(), "a")
	wantCode(t, "get what was deleted", err, fault.NotFound)
	check(t, s.Delete(t.Context(), "a", second))
	put(t, s, "a", "3")
	if d := must(s.Get(t.Context(), "a"))(t); string(d.Value) != "3" || d.Revision == second {
		t.Errorf("got %+v, want another revision than %q", d, second)
	}
}

func counted(t *testing.T, s store.Store) {
	const writers, each = 4, 5
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := increment(t.Context(), s, "count"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if d := must(s.Get(t.Context(), "count"))(t); string(d.Value) != strconv.Itoa(writers*each) {
		t.Errorf("%d increments make %s", writers*each, d.Value)
	}
}

func increment(ctx context.Context, s store.Store, key string) error {
	for {
		d, err := s.Get(ctx, key)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		n, _ := strconv.Atoi(string(d.Value))
		d.Key, d.Value = key, []byte(strconv.Itoa(n+1))
		if _, err = s.Update(ctx, d); fault.CodeOf(err) != fault.Conflict {
			return err
		}
	}
}

func watched(t *testing.T, s store.Store) {
	put(t, s, "other", "x")
	put(t, s, "a", "1")
	next := map[string]func(){
		"1": func() { put(t, s, "other", "y"); put(t, s, "a", "2") },
		"2": func() { check(t, s.Delete(t.Context(), "a", "")) },
		"":  func() {},
	}
	var seen []string
	err := s.Watch(within(t), "a", func(d store.Document) bool {
		if d.Key != "a" || (d.Revision == "") != (len(d.Value) == 0) {
			t.Errorf("delivered %+v", d)
		}
		if len(seen) == 0 || seen[len(seen)-1] != string(d.Value) {
			seen = append(seen, string(d.Value))
			next[string(d.Value)]()
		}
		return d.Revision == ""
	})
	if want := []string{"1", "2", ""}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("seen %q, %v; want %q", seen, err, want)
	}
}

func allWatched(t *testing.T, s store.Store) {
	put(t, s, "a", "1")
	put(t, s, "gone", "1")
	check(t, s.Delete(t.Context(), "gone", ""))
	newest := map[string]string{}
	err := s.Watch(within(t), "", func(d store.Document) bool {
		_, known := newest[d.Key]
		switch {
		case d.Key == "gone":
			t.Errorf("delivered %+v, which was deleted before", d)
		case d.Key == "a" && !known:
			put(t, s, "b", "1")
			put(t, s, "a", "2")
		case d.Key == "b" && !known:
			check(t, s.Delete(t.Context(), "b", ""))
		}
		newest[d.Key] = string(d.Value)
		b, ok := newest["b"]
		return newest["a"] == "2" && ok && b == ""
	})
	check(t, err)
}

func watchEnds(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	put(t, s, "a", "1")
	ended := make(chan error)
	go func() { ended <- s.Watch(ctx, "", func(store.Document) bool { cancel(); return false }) }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the watch ended without an error")
		}
	case <-time.After(30 * time.Second):
		t.Error("the watch did not end")
	}
}

// within bounds a watch, so that it fails instead of going on for ever.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func put(t *testing.T, s store.Store, key, value string) (revision string) {
	t.Helper()
	return must(s.Put(t.Context(), store.Document{Key: key, Value: []byte(value)}))(t)
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T { t.Helper(); check(t, err); return value }
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}
