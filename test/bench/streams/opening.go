package main

import (
	"context"
	"fmt"
	"time"

	"github.com/berthdev/berth/test/bench/internal/board"
)

const (
	// trip is how long a round trip between client and gateway takes.
	trip = 40 * time.Millisecond
	// aimTrips is how many of them a session through the gateway may take longer to open.
	aimTrips = 3
	// openings is how many sessions are opened in each round.
	openings = 4
)

// opening measures when the first byte of a command is there: through the gateway, with a
// delay between client and gateway alone, and as it is; and without a gateway. What a gateway
// takes is the sum of the two differences; the round trips are in the first one alone.
func (s *setup) opening(ctx context.Context, b *board.Board) error {
	command := direction{command: []string{"echo"}, out: true}
	defer s.toGateway.Set(0, 0)
	var direct, near, far, trips, more []float64
	for round := range s.rounds*openings + 1 {
		var took [3]float64
		for i, m := range []struct {
			way
			delay time.Duration
		}{{s.throughAPI(), 0}, {s.through("wired"), 0}, {s.through("wired"), trip}} {
			s.toGateway.Set(0, m.delay)
			first, _, err := m.session(ctx, command, 1)
			if err != nil {
				return err
			}
			took[i] = first.Seconds()
		}
		if round > 0 {
			direct, near, far = append(direct, took[0]), append(near, took[1]), append(far, took[2])
			trips, more = append(trips, (took[2]-took[1])/trip.Seconds()),
				append(more, (took[2]-took[0])/trip.Seconds())
		}
	}
	a, _, _ := board.Spread(direct)
	n, _, _ := board.Spread(near)
	f, _, _ := board.Spread(far)
	all, least, most := board.Spread(more)
	b.Add(board.Row{
		What: "opening, 40 ms to the gateway", Own: fmt.Sprintf("through the gateway %.0f ms", f*1000),
		Other:  fmt.Sprintf("berth %.0f ms", a*1000),
		Result: fmt.Sprintf("%.1f round trips more (%.1f to %.1f)", all, least, most),
		Aim:    fmt.Sprintf("≤ %d", aimTrips),
		Missed: all > aimTrips,
	})
	count, least, most := board.Spread(trips)
	b.Add(board.Row{
		What: "the same, of the delay alone", Own: fmt.Sprintf("with 40 ms %.0f ms", f*1000),
		Other:  fmt.Sprintf("without %.0f ms", n*1000),
		Result: fmt.Sprintf("%.1f round trips (%.1f to %.1f)", count, least, most),
	})
	return nil
}
