// Package board is the table of what has been measured: each figure beside the one that it is compared with.
package board

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// Row is a figure beside the one that it is compared with.
type Row struct {
	What        string
	Own, Other  string
	Result, Aim string // Aim is empty where there is none
	Missed      bool
}

// Board is what has been measured.
type Board struct{ rows []Row }

// Add adds a figure, and shows it at once.
func (b *Board) Add(r Row) {
	fmt.Fprintf(os.Stderr, "%s: %s, %s: %s\n", r.What, r.Own, r.Other, r.Result)
	b.rows = append(b.rows, r)
}

// Show prints what has been measured. Strict is an error if an aim is missed.
func (b *Board) Show(strict bool) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "WHAT\tMEDIAN\tBESIDE\tRESULT\tAIM")
	missed := false
	for _, r := range b.rows {
		aim := r.Aim
		if r.Missed {
			missed, aim = true, aim+" (missed)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.What, r.Own, r.Other, r.Result, aim)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if missed && strict {
		return errors.New("an aim is missed")
	}
	return nil
}

// Spread is the middle one of some values, the least and the most.
func Spread(values []float64) (median, least, most float64) {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]
}
