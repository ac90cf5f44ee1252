package token

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// One of many flows has its turn after at most one of each other.
func TestQueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Queue{AtOnce: 1, Room: 100}
		var mu sync.Mutex
		var turns []string
		var all sync.WaitGroup
		work := func(flow string) {
			all.Go(func() {
				leave, err := q.Enter(t.Context(), flow)
				if err != nil {
					t.Errorf("%s: %v", flow, err)
					return
				}
				defer leave()
				mu.Lock()
				turns = append(turns, flow)
				mu.Unlock()
				time.Sleep(time.Second)
			})
			synctest.Wait()
		}
		for range 50 {
			work("many")
		}
		work("few")
		work("few")
		work("one")
		all.Wait()
		place := map[string][]int{}
		for i, flow := range turns {
			place[flow] = append(place[flow], i)
		}
		if place["one"][0] > 3 || place["few"][1] > 5 || len(turns) != 53 {
			t.Errorf("the turns are %v", turns)
		}
		q.rests(t)
	})
}

// rests fails the test unless the queue is as it was at first.
func (q *Queue) rests(t *testing.T) {
	t.Helper()
	if q.busy+q.waiting+len(q.flows)+len(q.order) != 0 {
		t.Errorf("%d are busy, %d wait, of %v and %v", q.busy, q.waiting, q.flows, q.order)
	}
}

// If it is full, one of the flow goes that has most of them, and never one of a small one.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Queue{AtOnce: 2, Room: 10}
		end := make(chan struct{})
		var all sync.WaitGroup
		var mu sync.Mutex
		results := map[string]int{}
		enter := func(flow string) {
			all.Go(func() {
				leave, err := q.Enter(t.Context(), flow)
				mu.Lock()
				results[fmt.Sprint(flow, " ", err)]++
				mu.Unlock()
				if err == nil {
					<-end
					leave()
				}
			})
			synctest.Wait()
		}
		for range 5 {
			enter("small")
		}
		for range 100 {
			enter("large")
		}
		close(end)
		all.Wait()
		want := map[string]int{"small <nil>": 5, "large <nil>": 7, "large too many wait": 93}
		if fmt.Sprint(results) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", results, want)
		}
		q.rests(t)
	})
}

// Those who give up leave their place to others.
func TestQueueIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Queue{AtOnce: 1, Room: 10}
		leave, err := q.Enter(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, late)
		defer cancel()
		if _, err := q.Enter(ctx, "second"); !errors.Is(err, late) {
			t.Errorf("the error is %v", err)
		}
		leave()
		if leave, err = q.Enter(t.Context(), "third"); err != nil {
			t.Fatal(err)
		}
		leave()
		q.rests(t)
	})
}
