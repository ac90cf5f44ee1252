package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/berthdev/berth/test/bench/internal/board"
)

const trip = 40 * time.Millisecond

// pair is two command lines that come to the same.
type pair struct {
	what       string
	own, other []string
	most       float64 // how much longer the own one may take
}

// compare runs a pair in turns, and compares each with the one beside it. A first round is not counted.
func (s *setup) compare(ctx context.Context, b *board.Board, p pair) error {
	var ours, theirs, ratios []float64
	for round := range s.rounds + 1 {
		var took [2]float64
		for turn := range 2 {
			which := (turn + round) % 2
			var err error
			if took[which], err = s.timed(ctx, [][]string{p.own, p.other}[which], which); err != nil {
				return err
			}
		}
		if round > 0 {
			ours, theirs = append(ours, took[0]), append(theirs, took[1])
			ratios = append(ratios, took[0]/took[1])
		}
	}
	a, _, _ := board.Spread(ours)
	z, _, _ := board.Spread(theirs)
	ratio, least, most := board.Spread(ratios)
	b.Add(board.Row{
		What: p.what, Own: fmt.Sprintf("ssh %.0f ms", a*1000), Other: fmt.Sprintf("kubectl %.0f ms", z*1000),
		Result: fmt.Sprintf("%.2f (%.2f to %.2f)", ratio, least, most), Aim: fmt.Sprintf("≤ %.2f", p.most),
		Missed: ratio > p.most,
	})
	return nil
}

// timed says how many seconds a command takes. kubectl loses the end of what it copies now and then
// (kubernetes#124571): then it is run again, and what it took in vain does not count.
func (s *setup) timed(ctx context.Context, argv []string, which int) (float64, error) {
	for tries := 1; ; tries++ {
		begun := time.Now()
		err := s.run(ctx, argv...)
		if err == nil || which == 0 || tries == maxTries {
			return time.Since(begun).Seconds(), err
		}
	}
}

// maxTries is how often the other one may fail.
const maxTries = 10

// commands are those that do nothing: what it takes to run one, with a connection of its own and through one that is
// there.
func (s *setup) commands(ctx context.Context, b *board.Board) error {
	defer s.wire.Set(0, 0)
	kubectl := s.kubectl("exec", s.id, "-c", "k8shell-main", "--", "true")
	for _, m := range []struct {
		delay         time.Duration
		fresh, shared float64
	}{{0, 1.1, 0.7}, {trip, 0.8, 0.4}} {
		s.wire.Set(0, m.delay)
		fresh := pair{fmt.Sprintf("a command, %s", m.delay), s.ssh("true"), kubectl, m.fresh}
		if err := s.compare(ctx, b, fresh); err != nil {
			return err
		}
		_, stop, err := s.share(ctx)
		if err != nil {
			return err
		}
		err = s.compare(ctx, b, pair{
			fmt.Sprintf("one of many on a connection, %s", m.delay), s.shared("true"), kubectl, m.shared,
		})
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// line is the bytes a second of a line of 200 Mbit/s, with a trip of lineTrip.
const (
	line     = 25_000_000
	lineTrip = 10 * time.Millisecond
)

// files are one byte, which is how long it takes to begin, and a large file, either way, as fast as this machine is, on
// which the cluster is as well, and over a line.
func (s *setup) files(ctx context.Context, b *board.Board) error {
	defer s.wire.Set(0, 0)
	content := make([]byte, s.mebibytes<<20)
	_, _ = rand.Read(content)
	for name, text := range map[string][]byte{"one": content[:1], "large": content} {
		if err := os.WriteFile(s.file(name), text, 0o600); err != nil {
			return err
		}
	}
	kubectl := func(from, to string) []string { return s.kubectl("cp", "-c", "k8shell-main", from, to) }
	there := s.id + ":/tmp/"
	in := pair{
		fmt.Sprintf("a file of %d MiB, in", s.mebibytes), s.scp(s.file("large"), s.host()+":/tmp/large"),
		kubectl(s.file("large"), there+"large"), 1,
	}
	out := pair{
		fmt.Sprintf("a file of %d MiB, out", s.mebibytes), s.scp(s.host()+":/tmp/large", s.file("back")),
		kubectl(there+"large", s.file("back")), 1.25,
	}
	first := pair{
		"a file of one byte, in", s.scp(s.file("one"), s.host()+":/tmp/one"), kubectl(s.file("one"), there+"one"), 1,
	}
	for _, p := range []pair{first, in, out} {
		if err := s.compare(ctx, b, p); err != nil {
			return err
		}
	}
	s.wire.Set(line, lineTrip)
	for _, p := range []pair{in, out} {
		p.what += ", 200 Mbit/s"
		if err := s.compare(ctx, b, p); err != nil {
			return err
		}
	}
	return nil
}

// small are many small files, as they are and with a delay.
func (s *setup) small(ctx context.Context, b *board.Board) error {
	defer s.wire.Set(0, 0)
	for _, m := range []struct {
		files       int
		delay, most time.Duration
	}{{1000, 0, 5 * time.Second}, {100, trip, 100 * trip}} {
		dir := s.file(strconv.Itoa(m.files))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		for i := range m.files {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), make([]byte, 4<<10), 0o600); err != nil {
				return err
			}
		}
		s.wire.Set(0, m.delay)
		begun := time.Now()
		if err := s.run(ctx, s.scp(dir, s.host()+":/tmp/")...); err != nil {
			return err
		}
		took := time.Since(begun)
		b.Add(board.Row{
			What:  fmt.Sprintf("%d files of 4 KiB, in, %s", m.files, m.delay),
			Own:   fmt.Sprintf("scp %.1f s", took.Seconds()),
			Other: "-", Result: fmt.Sprintf("%.1f ms a file", took.Seconds()*1000/float64(m.files)),
			Aim: fmt.Sprintf("≤ %.0f s", m.most.Seconds()), Missed: took > m.most,
		})
	}
	return nil
}
