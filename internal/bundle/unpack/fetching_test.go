package unpack

import (
	"context"
	"errors"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
)

// What comes of a chart, and of all that it depends on, adds up: many small ones are not slow.
func TestProgressAddsUp(t *testing.T) {
	for name, test := range map[string]struct {
		told []v1.Progress
		want int64
	}{
		"nothing":   {nil, 0},
		"one thing": {[]v1.Progress{{Message: "a"}, {Message: "a", Done: 10}, {Message: "a", Done: 30}}, 30},
		"several": {
			[]v1.Progress{{Message: "a", Done: 30}, {Message: "b", Done: 20}, {Message: "c", Done: 1}},
			51,
		},
		"at once": {[]v1.Progress{{Message: "a", Done: 1}, {Message: "b", Done: 2}, {Message: "a", Done: 3}}, 5},
		"from its start": {
			[]v1.Progress{{Message: "a", Done: 9}, {Message: "a", Done: 4}, {Message: "a", Done: 10}},
			10,
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := withCache(t)
			s := NewFetches(u.Fetcher.Cache)
			f := &fetch{bundle: "app"}
			s.places <- struct{}{}
			s.do(t.Context(), f, func(_ context.Context, progress func(v1.Progress)) (*content.Content,
				v1alpha1.Source, error,
			) {
				for _, p := range test.told {
					progress(p)
				}
				return nil, v1alpha1.Source{}, errors.New("ended")
			})
			if f.came != test.want {
				t.Errorf("%d bytes have come, not %d", f.came, test.want)
			}
		})
	}
}
