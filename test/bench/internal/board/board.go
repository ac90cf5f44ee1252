package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// row is a figure beside the one that it is compared with.
type row struct {
	what        string
	own, other  string
	result, aim string // aim is empty where there is none
	missed      bool
}

// board is what has been measured.
type board struct{ rows []row }

func (b *board) add(r row) {
	fmt.Fprintf(os.Stderr, "%s: %s, %s: %s\n", r.what, r.own, r.other, r.result)
	b.rows = append(b.rows, r)
}

// show prints what has been measured. Strict is an error if an aim is missed.
func (b *board) show(strict bool) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "WHAT\tMEDIAN\tBESIDE\tRESULT\tAIM")
	missed := false
	for _, r := range b.rows {
		aim := r.aim
		if r.missed {
			missed, aim = true, aim+" (missed)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.what, r.own, r.other, r.result, aim)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if missed && strict {
		return errors.New("an aim is missed")
	}
	return nil
}

// spread is the middle one of some values, the least and the most.
func spread(values []float64) (median, least, most float64) {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]
}
