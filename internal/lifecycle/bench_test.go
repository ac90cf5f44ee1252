package lifecycle_test

import (
	"fmt"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// An exchange of which nothing has changed.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{1000, 10_000} {
		records := map[string]lifecycle.Record{}
		for i := range size {
			r := lifecycle.Adopted(fmt.Sprintf("alice-%05d", i), "1", now(), v1.ActualRunning, now())
			r.Namespace = "team"
			records[r.Key()] = r
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				changed, answer, err := lifecycle.Exchange(records, lifecycle.Report{}, unlimited,
					lifecycle.NextMark(records, now()))
				if err != nil || len(changed)+len(answer.Workspaces) > 0 {
					b.Fatal(changed, answer, err)
				}
			}
		})
	}
}
