package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/test/bench/internal/board"
)

// direction is one way for bytes to go.
type direction struct {
	name    string
	command []string // in the pod
	in, out bool     // whether this end writes, and reads
}

// directions are all of them. What goes into the pod is counted there: with Kubernetes 1.36,
// about every third command that ends with its input and has written nothing came back
// without its status, with kubectl as well. What comes out arrives before the command ends:
// through a slow link, a session has ended with an unexpected EOF before its last byte.
func directions(mebibytes int) []direction {
	return []direction{
		{"into the pod", []string{"wc", "-c"}, true, false},
		{"out of the pod", []string{"sh", "-c", "dd if=/dev/zero bs=1048576 count=" + strconv.Itoa(mebibytes) +
			"; sleep 1"}, false, true},
		{"there and back", []string{"cat"}, true, true},
	}
}

// way is a way into the pod: a command line that a command is added to.
type way struct {
	name string
	argv []string
	env  []string
}

func (s *setup) berthExec(name string, flags ...string) way {
	return way{name, append([]string{s.Berth, "exec", "-i", "--namespace", s.namespace, "id/" + s.id},
		append(flags, "--")...), s.env}
}

func (s *setup) throughAPI() way { return s.berthExec("berth") }

func (s *setup) wiredToAPI() way { return s.berthExec("berth", "--kubeconfig", s.wired()) }

func (s *setup) through(gateway string) way {
	return s.berthExec("through the gateway", "--gateway", gateway)
}

func (s *setup) kubectlExec() way {
	return way{"kubectl", []string{
		s.Kubectl, "exec", "-i", "--namespace", s.namespace, s.id, "-c", "k8shell-main",
		"--",
	}, s.env}
}

// What of the bytes a second of the other one is aimed at, and how fast the link is that a
// gateway is measured with.
const (
	aimOfKubectl = 0.95
	aimOfDirect  = 0.8
	capped       = 200e6 / 8
)

// bytes compares how many bytes a second sessions carry.
func (s *setup) bytes(ctx context.Context, b *board.Board) error {
	all := directions(s.mebibytes)
	for _, d := range all {
		if err := s.pairs(ctx, b, d.name, d, s.throughAPI(), s.kubectlExec(), aimOfKubectl); err != nil {
			return err
		}
	}
	for _, d := range all[:2] {
		s.toAPI.Set(capped, 0)
		s.toGateway.Set(capped, 0)
		err := s.pairs(ctx, b, d.name+", 200 Mbit/s", d, s.through("wired"), s.wiredToAPI(), aimOfDirect)
		s.toAPI.Set(0, 0)
		s.toGateway.Set(0, 0)
		if err != nil {
			return err
		}
		if err := s.pairs(ctx, b, d.name+", uncapped", d, s.through("near"), s.throughAPI(), 0); err != nil {
			return err
		}
	}
	return nil
}

// pairs runs two ways one right after the other, now this one first and now that one, and
// compares each with the one beside it. A first pair is not counted.
func (s *setup) pairs(ctx context.Context, b *board.Board, what string, d direction, own, other way,
	aim float64,
) error {
	var ours, theirs, ratios []float64
	for round := range s.rounds + 1 {
		took := map[string]float64{}
		order := []way{own, other}
		if round%2 == 1 {
			order = []way{other, own}
		}
		for _, w := range order {
			last, err := s.carried(ctx, w, d)
			if err != nil {
				return err
			}
			took[w.name] = float64(s.mebibytes) / last.Seconds()
		}
		if round > 0 {
			ours, theirs = append(ours, took[own.name]), append(theirs, took[other.name])
			ratios = append(ratios, took[own.name]/took[other.name])
		}
	}
	ratio, least, most := board.Spread(ratios)
	a, _, _ := board.Spread(ours)
	z, _, _ := board.Spread(theirs)
	r := board.Row{
		What: what, Own: fmt.Sprintf("%s %.0f MiB/s", own.name, a),
		Other: fmt.Sprintf("%s %.0f MiB/s", other.name, z), Result: fmt.Sprintf("%.2f (%.2f to %.2f)", ratio, least,
			most),
	}
	if aim > 0 {
		r.Aim, r.Missed = fmt.Sprintf("≥ %.2f", aim), ratio < aim
	}
	b.Add(r)
	return nil
}

// sessionTries is how many sessions may be lost one after the other, as directions says.
const sessionTries = 3

// carried carries the bytes through one session. One that was lost is said, and made again.
func (s *setup) carried(ctx context.Context, w way, d direction) (last time.Duration, err error) {
	for range sessionTries {
		if _, last, err = w.session(ctx, d, int64(s.mebibytes)<<20); err == nil || ctx.Err() != nil {
			return last, err
		}
		fmt.Fprintf(os.Stderr, "once more, as a session was lost: %v\n", err)
	}
	return 0, err
}

// session carries the bytes through one session. It gives the time from its start to the first
// byte of its output and to the last one.
func (w way) session(ctx context.Context, d direction, total int64) (first, last time.Duration, err error) {
	argv := slices.Concat(w.argv, d.command)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var stderr strings.Builder
	out := counter{begun: time.Now()}
	cmd.Env, cmd.Stderr, cmd.Stdout = w.env, &stderr, &out
	if d.in {
		cmd.Stdin = io.LimitReader(zeros{}, total)
	}
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s %s: %w\n%s", filepath.Base(argv[0]), strings.Join(argv[1:], " "), err,
			stderr.String())
	}
	if d.out && out.bytes != total {
		return 0, 0, fmt.Errorf("%s: %d bytes came back of %d", strings.Join(argv, " "), out.bytes, total)
	}
	return out.first, out.last, nil
}

// zeros has no end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// counter counts the bytes that are written, and keeps none.
type counter struct {
	begun time.Time
	bytes int64
	// first and last are the times until the first of them, and until the newest.
	first, last time.Duration
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.last = time.Since(c.begun)
	if c.bytes == 0 {
		c.first = c.last
	}
	c.bytes += int64(len(p))
	return len(p), nil
}
