package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/test/bench/internal/board"
)

const (
	aimProxy   = 15 << 20  // bytes of a proxy
	aimChannel = 256 << 10 // bytes of each idle channel
	channels   = 30
)

// memory is what a proxy takes in which one command does nothing, and what each further one takes.
func (s *setup) memory(ctx context.Context, b *board.Board) error {
	master, stop, err := s.share(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var taken [2]int64
	for i, n := range []int{1, channels} {
		if err := s.enter(ctx, n); err != nil {
			return err
		}
		if taken[i], err = anonymous(master); err != nil {
			return err
		}
	}
	each := (taken[1] - taken[0]) / channels
	b.Add(board.Row{
		What: "memory of a proxy", Own: fmt.Sprintf("%.1f MiB", float64(taken[0])/(1<<20)), Other: "-",
		Result: "anonymous",
		Aim:    fmt.Sprintf("≤ %d MiB", aimProxy>>20), Missed: taken[0] > aimProxy,
	})
	b.Add(board.Row{
		What: fmt.Sprintf("%d idle channels more", channels), Own: fmt.Sprintf("%.1f MiB", float64(taken[1])/(1<<20)),
		Other:  "-",
		Result: fmt.Sprintf("%d KiB each", each>>10), Aim: fmt.Sprintf("≤ %d KiB", aimChannel>>10),
		Missed: each > aimChannel,
	})
	return nil
}

// enter starts commands that do nothing, on a connection that is there, and waits until nothing happens any more.
func (s *setup) enter(ctx context.Context, n int) error {
	for range n {
		idle := s.command(ctx, s.shared("echo; exec sleep 3600")...)
		out, err := idle.StdoutPipe()
		if err == nil {
			err = idle.Start()
		}
		if err == nil {
			_, err = out.Read(make([]byte, 1))
		}
		if err != nil {
			return err
		}
	}
	time.Sleep(5 * time.Second)
	return nil
}

// anonymous is the memory of the proxy that a client has started.
func anonymous(client int) (int64, error) {
	pids, err := exec.Command("pgrep", "-P", strconv.Itoa(client)).Output()
	if err != nil {
		return 0, fmt.Errorf("the proxy: %w", err)
	}
	status, err := os.ReadFile("/proc/" + strings.Fields(string(pids))[0] + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
	kib, err := strconv.ParseInt(strings.Fields(string(rest))[0], 10, 64)
	return kib << 10, err
}
