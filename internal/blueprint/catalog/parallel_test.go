package catalog

import (
	"sync"
	"testing"
)

// A batch puts several blueprints together from one set, side by side.
func TestSetIsForSeveralAtOnce(t *testing.T) {
	set := platformSet(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			o := own("template: dev\nenv: {A: !cel user.username}\n")
			o.Overrides = []Override{{
				Flag: "--set", Path: "storages",
				Value: "{a: {type: memory, path: /data, readonly: !cel true}}",
			}}
			if b, err := resolve(t, set, o); err != nil || !b.Storages["a"].Readonly {
				t.Errorf("%+v, %v", b, err)
			}
		})
	}
	wg.Wait()
}
