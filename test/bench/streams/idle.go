package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/test/bench/internal/board"
)

const (
	aimMemory = 256 << 10 // bytes of each idle session
	// warm is how many sessions there are before anything is counted: what a first session
	// takes is no part of the others.
	warm = 10
	// settled is how long nothing happens before the memory is read.
	settled = 10 * time.Second
	// atOnce is how many sessions begin at once, and pause is between two: a gateway limits the requests of a user.
	atOnce = 8
	pause  = 100 * time.Millisecond
)

// idle measures what sessions cost the gateway in which nothing happens: terminals, as people
// leave them open.
func (s *setup) idle(ctx context.Context, b *board.Board) error {
	// What client-go says of the connections that are cut off at the end is no news.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	defer cancel()
	if err := s.enter(ctx, warm); err != nil {
		return err
	}
	time.Sleep(settled)
	before, err := s.gateway.anonymous()
	if err != nil {
		return err
	}
	if err := s.enter(ctx, s.sessions-warm); err != nil {
		return err
	}
	time.Sleep(settled)
	after, err := s.gateway.anonymous()
	if err != nil {
		return err
	}
	each := (after - before) / int64(s.sessions-warm)
	b.Add(board.Row{
		What: strconv.Itoa(s.sessions) + " idle sessions", Own: fmt.Sprintf("gateway %.1f MiB", float64(after)/(1<<20)),
		Other:  fmt.Sprintf("with %d %.1f MiB", warm, float64(before)/(1<<20)),
		Result: fmt.Sprintf("%d KiB each", each>>10), Aim: fmt.Sprintf("≤ %d KiB", aimMemory>>10),
		Missed: each > aimMemory,
	})
	return nil
}

// enter opens sessions, which stay until ctx ends.
func (s *setup) enter(ctx context.Context, sessions int) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for range sessions {
		time.Sleep(pause)
		group.Go(func() error {
			begun, ended := make(chan struct{}), make(chan error, 1)
			go func() { ended <- s.terminal(ctx, begun) }()
			select {
			case <-begun:
				return nil
			case err := <-ended:
				return fmt.Errorf("an idle session has ended: %w", err)
			case <-groupCtx.Done():
				return groupCtx.Err()
			}
		})
	}
	return group.Wait()
}

// terminal is a session at a terminal that says something once and then nothing.
func (s *setup) terminal(ctx context.Context, begun chan struct{}) error {
	at, err := url.Parse("https://" + s.gateway.address + "/apis/berth.dev/v1/namespaces/" + s.namespace +
		"/workspaces/" + s.id + "/exec")
	if err != nil {
		return err
	}
	at.RawQuery = url.Values{
		"command": {"sh", "-c", "echo; exec cat"}, "stdin": {"true"}, "stdout": {"true"},
		"tty": {"true"},
	}.Encode()
	config := &rest.Config{BearerToken: s.gateway.token, TLSClientConfig: rest.TLSClientConfig{CAFile: s.gateway.ca}}
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", at.String())
	if err != nil {
		return err
	}
	silence, never := io.Pipe()
	defer func() { _ = never.Close() }()
	return executor.StreamWithContext(ctx,
		remotecommand.StreamOptions{Stdin: silence, Stdout: &once{begun: begun}, Tty: true})
}

// once closes a channel at the first byte.
type once struct {
	begun chan struct{}
	done  bool
}

// Write implements io.Writer.
func (o *once) Write(p []byte) (int, error) {
	if !o.done {
		close(o.begun)
		o.done = true
	}
	return len(p), nil
}
