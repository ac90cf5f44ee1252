package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/berthdev/berth/internal/volume"
)

func open(t *testing.T, file string) *Queue {
	t.Helper()
	q, err := Open(file, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}

func waits(id string, deleted int, lifespan time.Duration) Record {
	return Record{Volume: volume.Volume{ID: id, PodUID: "pod", Deleted: at(deleted), Lifespan: lifespan}}
}

func put(t *testing.T, q *Queue, records ...Record) {
	t.Helper()
	for _, r := range records {
		if err := q.Wait(r); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(all []volume.Volume) (ids []string) {
	for _, v := range all {
		ids = append(ids, v.ID)
	}
	return ids
}

// What was answered is there after the process was killed: the file is copied as it is,
// without being closed.
func TestDurable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queue.db")
	q := open(t, file)
	put(t, q, waits("b", 2, time.Hour), waits("a", 1, time.Minute))
	if err := q.Use(Record{
		Volume: volume.Volume{ID: "live", PodUID: "pod", Published: at(1)},
		Target: "/t",
	}); err != nil {
		t.Fatal(err)
	}
	put(t, q, waits("gone", 3, 0))
	if err := q.Forget("gone"); err != nil {
		t.Fatal(err)
	}
	if q.db.NoSync || q.db.NoGrowSync {
		t.Error("commits are not written to the disk")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "queue.db")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, copied)
	if got := ids(again.Waiting()); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q wait, the oldest first", got)
	}
	if r, ok := again.Get("live"); !ok || r.Waits() || r.Target != "/t" || !r.Published.Equal(at(1)) {
		t.Errorf("what is in use is %+v", r)
	}
	if v := again.Waiting()[0]; v.Lifespan != time.Minute || !v.Deleted.Equal(at(1)) {
		t.Errorf("it waits since %s for %s", v.Deleted, v.Lifespan)
	}
}

// Asked twice: the first time counts. In use again: it does not wait any more.
func TestWaitTwice(t *testing.T) {
	q := open(t, filepath.Join(t.TempDir(), "queue.db"))
	put(t, q, waits("a", 1, time.Hour), waits("a", 5, time.Minute))
	if v := q.Waiting(); len(v) != 1 || !v[0].Deleted.Equal(at(1)) || v[0].Lifespan != time.Hour {
		t.Errorf("it waits as %+v", v)
	}
	r, _ := q.Get("a")
	if err := q.Use(r); err != nil {
		t.Fatal(err)
	}
	if f := q.Figures(); f.Waiting != 0 || f.Used != 1 {
		t.Errorf("counted are %+v", f)
	}
}

// Records that cannot be read are told, put aside, and do not keep others from being read.
func TestUnreadableRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queue.db")
	q := open(t, file)
	put(t, q, waits("good", 1, time.Hour))
	err := q.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketVolumes)).Put([]byte("bad"),
			[]byte("{"))
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = q.Close()
	var told []string
	for range 2 {
		q, err = Open(file, func(err error) { told = append(told, err.Error()) })
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(q.Waiting()); !slices.Equal(got, []string{"good"}) {
			t.Errorf("%q wait", got)
		}
		_ = q.Close()
	}
	if len(told) != 1 || !strings.Contains(told[0], `"bad"`) {
		t.Errorf("told is %q", told)
	}
}

// A file that is no database is kept, and a new one begun.
func TestUnreadableFile(t *testing.T) {
	for name, text := range map[string]string{"short": "nonsense", "long": strings.Repeat("nonsense", 10000)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "queue.db")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var told []error
			q, err := Open(file, func(err error) { told = append(told, err) })
			if err != nil {
				t.Fatal(err)
			}
			put(t, q, waits("a", 1, time.Hour))
			_ = q.Close()
			if kept, err := os.ReadFile(file + ".unreadable"); err != nil || string(kept) != text || len(told) != 1 {
				t.Errorf("%v, told is %v", err, told)
			}
		})
	}
}

// The file is only the driver's.
func TestMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queue.db")
	open(t, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// round runs one, with a disk that has free of 1000 and gains a hundred with each removal.
type round struct {
	q       *Queue
	free    int64
	late    bool // the disk frees nothing before the round is over
	most    int
	refused map[string]error
	reads   int
	removed []string
	failed  []string
}

func (r *round) run(t *testing.T, now time.Time) {
	t.Helper()
	r.removed, r.failed, r.reads = nil, nil, 0
	remove := func(_ context.Context, v volume.Volume) error {
		if err := r.refused[v.ID]; err != nil {
			return err
		}
		r.removed = append(r.removed, v.ID)
		if !r.late {
			r.free += 100
		}
		return r.q.Forget(v.ID)
	}
	err := r.q.Run(t.Context(), Round{
		Now: now, Headroom: 0.5, Most: r.most,
		Disk: func() (Disk, error) {
			r.reads++
			if r.free < 0 {
				return Disk{}, errors.New("no disk")
			}
			return Disk{Free: r.free, Total: 1000}, nil
		},
		Remove: remove,
		Crowded: func(ctx context.Context, v volume.Volume) error {
			if err := remove(ctx, v); err != nil {
				return err
			}
			r.removed[len(r.removed)-1] += " of many"
			return nil
		},
		Failed: func(v volume.Volume, again time.Time, err error) {
			r.failed = append(r.failed, fmt.Sprintf("%s in %s: %v", v.ID, again.Sub(now), err))
		},
	})
	if (err != nil) != (r.free < 0) {
		t.Error(err)
	}
}

func (r *round) want(t *testing.T, removed ...string) {
	t.Helper()
	if !slices.Equal(r.removed, removed) {
		t.Errorf("removed are %q, want %q", r.removed, removed)
	}
}

func TestRound(t *testing.T) {
	start := func(t *testing.T, free int64, records ...Record) *round {
		t.Helper()
		q := open(t, filepath.Join(t.TempDir(), "queue.db"))
		put(t, q, records...)
		return &round{q: q, free: free, refused: map[string]error{}}
	}
	minute := time.Minute
	three := []Record{waits("c", 30, minute), waits("a", 10, minute), waits("b", 20, minute)}
	t.Run("nothing is due", func(t *testing.T) {
		r := start(t, 500, three...)
		r.run(t, at(70))
		r.want(t)
	})
	t.Run("due ones go oldest first, and the disk is read once", func(t *testing.T) {
		r := start(t, 500, three...)
		r.run(t, at(81))
		r.want(t, "a", "b")
		if r.reads != 1 {
			t.Errorf("the disk is read %d times", r.reads)
		}
	})
	t.Run("one with a short lifespan goes before older ones that are not due", func(t *testing.T) {
		r := start(t, 500, append(slices.Clone(three), waits("short", 40, time.Second))...)
		r.run(t, at(50))
		r.want(t, "short")
	})
	t.Run("under pressure only as much as is needed, the disk read again after each", func(t *testing.T) {
		r := start(t, 300, three...) // the factor is 0.6: 36 s; then 0.8: 48 s
		r.run(t, at(67))             // a since 57 s, b since 47 s, c since 37 s
		r.want(t, "a")
		if r.reads != 2 {
			t.Errorf("the disk is read %d times", r.reads)
		}
	})
	t.Run("on a full disk the oldest first until there is room", func(t *testing.T) {
		r := start(t, 0, append(slices.Clone(three), waits("d", 40, minute), waits("e", 41, minute))...)
		r.run(t, at(42))
		r.want(t, "a", "b") // 32 s and 22 s old, of 0 s and 12 s; c has 12 s of 24 s
	})
	t.Run("what was measured counts as free where the disk frees it later", func(t *testing.T) {
		r := start(t, 0, append(slices.Clone(three), waits("d", 40, minute), waits("e", 41, minute))...)
		r.late = true
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			r.q.Measured(id, 100, 1)
		}
		r.run(t, at(42))
		r.want(t, "a", "b")
	})
	t.Run("what expired goes also when there is room again", func(t *testing.T) {
		r := start(t, 450, three...)
		r.run(t, at(1000))
		r.want(t, "a", "b", "c")
	})
	t.Run("a disk that cannot be read shortens nothing", func(t *testing.T) {
		r := start(t, -1000, three...)
		r.run(t, at(71))
		r.want(t, "a")
	})
	t.Run("what cannot be removed is said, tried again with back-off, and keeps nobody back", func(t *testing.T) {
		r := start(t, 500, three...)
		r.refused["a"] = errors.New("busy")
		r.run(t, at(81))
		r.want(t, "b")
		if want := []string{"a in 5s: busy"}; !slices.Equal(r.failed, want) {
			t.Errorf("said is %q", r.failed)
		}
		if v := r.q.Waiting()[0]; v.Failure != "busy" {
			t.Errorf("it is shown as %+v", v)
		}
		r.run(t, at(85))
		r.want(t)
		r.run(t, at(86))
		if want := []string{"a in 10s: busy"}; !slices.Equal(r.failed, want) {
			t.Errorf("said is %q", r.failed)
		}
		delete(r.refused, "a")
		r.run(t, at(95))
		r.want(t, "c")
		r.run(t, at(96))
		r.want(t, "a")
	})
	t.Run("of more than may wait the oldest go, beside those that are due", func(t *testing.T) {
		r := start(t, 500, append(slices.Clone(three), waits("short", 40, time.Second))...)
		r.most = 2
		r.run(t, at(50))
		r.want(t, "short", "a of many")
		r.run(t, at(51))
		r.want(t)
	})
	t.Run("one of too many that cannot be removed is tried again, and the next goes meanwhile", func(t *testing.T) {
		r := start(t, 500, three...)
		r.most, r.refused["a"] = 2, errors.New("busy")
		r.run(t, at(50))
		r.want(t)
		if want := []string{"a in 5s: busy"}; !slices.Equal(r.failed, want) {
			t.Errorf("said is %q", r.failed)
		}
		r.run(t, at(51))
		r.want(t, "b of many")
	})
	t.Run("one of too many that is held is left to a later round", func(t *testing.T) {
		r := start(t, 500, three...)
		r.most, r.refused["a"] = 2, ErrHeld
		r.run(t, at(50))
		r.want(t)
		delete(r.refused, "a")
		r.run(t, at(51))
		r.want(t, "a of many")
	})
	t.Run("what is held is left to a later round, without a word", func(t *testing.T) {
		r := start(t, 500, three...)
		r.refused["a"] = ErrHeld
		r.run(t, at(81))
		r.want(t, "b")
		delete(r.refused, "a")
		r.run(t, at(82))
		r.want(t, "a")
	})
}

// A size that was measured is there after a restart, but not in place of something newer.
func TestMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queue.db")
	q := open(t, file)
	put(t, q, waits("a", 1, time.Hour), waits("b", 2, time.Hour))
	if v, ok := q.Unmeasured(func(string) bool { return false }); !ok || v.ID != "a" {
		t.Errorf("the first to measure is %q", v.ID)
	}
	q.Measured("a", 100, 2)
	q.Measured("b", 50, 1)
	q.Measured("nobody", 50, 1)
	if f := q.Figures(); f.Bytes != 150 {
		t.Errorf("held are %d bytes", f.Bytes)
	}
	if err := q.Forget("b"); err != nil {
		t.Fatal(err)
	}
	if f := q.Figures(); f.Bytes != 100 {
		t.Errorf("held are %d bytes", f.Bytes)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, file)
	if v := again.Waiting(); len(v) != 1 || v[0].Bytes != 100 || v[0].Inodes != 2 {
		t.Errorf("it comes back as %+v", v)
	}
	if f := again.Figures(); f.Bytes != 100 {
		t.Errorf("held are %d bytes", f.Bytes)
	}
}

// A round over 10,000 without pressure decodes nothing and takes a fraction of the 50 ms
// that it may.
func BenchmarkRound(b *testing.B) {
	q := &Queue{entries: map[string]*entry{}, changed: map[string]bool{}}
	for i := range 10000 {
		q.set(waits(fmt.Sprintf("volume-%d", i), i%5000, 12*time.Hour))
	}
	r := Round{Now: at(6000), Headroom: 0.1, Disk: func() (Disk, error) { return Disk{Free: 500, Total: 1000}, nil }}
	for b.Loop() {
		if err := q.Run(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
