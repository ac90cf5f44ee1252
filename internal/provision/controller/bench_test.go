package controller

import (
	"fmt"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// A report of which nothing has changed.
func BenchmarkReport(b *testing.B) {
	for _, size := range []int{1000, 10_000} {
		k := newKnown()
		var records []lifecycle.Record
		var all []v1.Workspace
		for i := range size {
			id := fmt.Sprintf("alice-%05d", i)
			records, all = append(records, recordOf(id, v1.DesiredRunning, v1.ActualRunning)),
				append(all, seen(id, v1.StageRunning))
		}
		k.replaceRecords(records)
		k.seeAll(all)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if report := k.report(false); len(report.Workspaces) > 0 {
					b.Fatal(report)
				}
			}
		})
	}
}
