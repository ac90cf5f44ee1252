package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/test/bench/internal/board"
)

const (
	atOnce   = 50      // connections with a port
	transfer = 4 << 20 // bytes that each carries
)

// ports carries bytes through many connections at once.
func (s *setup) ports(ctx context.Context, b *board.Board) error {
	if err := s.run(ctx, s.ssh("dd if=/dev/zero of=/tmp/transfer bs="+strconv.Itoa(transfer)+
		" count=1 2>/dev/null; httpd -p 8000 -h /tmp")...); err != nil {
		return err
	}
	var ratios, ours, theirs []float64
	for range s.rounds {
		own, err := s.through(ctx, func(port string) []string {
			return append([]string{"ssh", "-N", "-L", port + ":127.0.0.1:8000"}, s.ssh()[1:]...)
		})
		if err != nil {
			return err
		}
		other, err := s.through(ctx, func(port string) []string {
			return s.kubectl("port-forward", "pod/"+s.id, port+":8000")
		})
		if err != nil {
			return err
		}
		ours, theirs, ratios = append(ours, own), append(theirs, other), append(ratios, own/other)
	}
	a, _, _ := board.Spread(ours)
	z, _, _ := board.Spread(theirs)
	ratio, least, most := board.Spread(ratios)
	b.Add(board.Row{
		What: fmt.Sprintf("%d connections with a port at once", atOnce), Own: fmt.Sprintf("ssh %.0f MiB/s", a),
		Other: fmt.Sprintf("kubectl %.0f MiB/s", z), Result: fmt.Sprintf("%.2f (%.2f to %.2f)", ratio, least, most),
		Aim: "≥ 1.00", Missed: ratio < 1,
	})
	return nil
}

// through is how many MiB a second come through a port that a command forwards.
func (s *setup) through(ctx context.Context, forward func(port string) []string) (float64, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	cmd := s.command(ctx, forward(port)...)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func() error {
		response, err := client.Get("http://127.0.0.1:" + port + "/transfer")
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		n, err := io.Copy(io.Discard, response.Body)
		if err == nil && n != transfer {
			err = fmt.Errorf("%d bytes of %d", n, transfer)
		}
		return err
	}
	for deadline := time.Now().Add(time.Minute); get() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			return 0, errors.New("nothing comes through the port")
		}
	}
	begun := time.Now()
	var group errgroup.Group
	for range atOnce {
		group.Go(get)
	}
	err = group.Wait()
	return float64(atOnce*transfer>>20) / time.Since(begun).Seconds(), err
}
