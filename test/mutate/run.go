package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// runner runs tests with changes. The tests are compiled by prepare, but for a change that takes
// a build of its own: it has a runner of its own, too.
type runner struct {
	dir, overlay string
	tests        map[string]test
}

// test is the compiled test of a package, and how long it may take.
type test struct {
	binary string
	limit  time.Duration
}

// run makes the changes, jobs of them at a time: most tests of commands wait more than they
// work.
func run(ctx context.Context, changes []place, jobs int) error {
	dir, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r, err := prepare(ctx, dir, changes)
	if err != nil {
		return err
	}
	by := make([]string, len(changes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for i, p := range changes {
		group.Go(func() (err error) {
			switch by[i], err = r.notices(ctx, p); {
			case err != nil:
			case by[i] != "":
				fmt.Printf("%d: noticed by %s: %s\n", p.id, by[i], p)
			default:
				fmt.Printf("%d: NOT NOTICED: %s\n", p.id, p)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	summarize(changes, by)
	return nil
}

// prepare compiles the tests with all changes that have a switch.
func prepare(ctx context.Context, dir string, changes []place) (*runner, error) {
	var switched []place
	for _, p := range changes {
		if !p.constant {
			switched = append(switched, p)
		}
	}
	r := &runner{dir: dir, tests: map[string]test{}}
	var err error
	if r.overlay, err = overlay(dir, switched); err != nil {
		return nil, err
	}
	for _, p := range switched {
		for _, pkg := range testers(p.pkg) {
			if _, err := r.compiled(ctx, pkg, false); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// summarize prints how many changes were noticed, of each package and of all; by has who has
// noticed each.
func summarize(changes []place, by []string) {
	all, noticed := map[string]int{}, map[string]int{}
	total := 0
	for i, p := range changes {
		all[p.pkg]++
		if by[i] != "" {
			noticed[p.pkg]++
			total++
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%s: %d of %d\n", pkg, noticed[pkg], all[pkg])
	}
	fmt.Printf("noticed: %d of %d, %.1f %%\n", total, len(changes), 100*float64(total)/float64(max(len(changes), 1)))
}

// notices is the package whose test fails under a change; empty if none does.
func (r *runner) notices(ctx context.Context, p place) (string, error) {
	at := r
	if p.constant {
		dir, err := os.MkdirTemp(r.dir, "")
		if err != nil {
			return "", err
		}
		at = &runner{dir: dir, tests: map[string]test{}}
		if at.overlay, err = overlay(dir, []place{p}); err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	seen := map[string]bool{}
	for _, pkg := range testers(p.pkg) {
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		t, err := at.compiled(ctx, pkg, p.constant)
		switch {
		case err != nil && p.constant:
			return "the compiler", nil
		case err != nil:
			return "", err
		case t.binary == "":
			continue
		}
		if failed, err := t.fails(ctx, pkg, p.id); failed || err != nil {
			return pkg, err
		}
	}
	return "", nil
}

// compiled is the test of a package, which has to pass without a change.
func (r *runner) compiled(ctx context.Context, pkg string, constant bool) (test, error) {
	t, ok := r.tests[pkg]
	if ok {
		return t, nil
	}
	t.binary = filepath.Join(r.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", r.overlay, "-o", t.binary, "./"+
		pkg) //nolint:gosec // of the checkout
	if out, err := build.CombinedOutput(); err != nil {
		return t, fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	if _, err := os.Stat(t.binary); err != nil {
		t.binary = "" // it has no tests
	}
	t.limit = 5 * time.Minute
	if t.binary != "" && !constant {
		begun := time.Now()
		switch failed, err := t.fails(ctx, pkg, 0); {
		case err != nil:
			return t, err
		case failed:
			return t, fmt.Errorf("the tests of %s fail without a change", pkg)
		}
		t.limit = 30*time.Second + 8*time.Since(begun) // which was alone
	}
	r.tests[pkg] = t
	return t, nil
}

// fails runs a test under a change. One that does not end fails, too.
func (t test) fails(ctx context.Context, pkg string, id int) (bool, error) {
	limited, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, t.binary, "-test.failfast", "-test.short",
		"-test.paniconexit0") //nolint:gosec // it has been built here
	cmd.Dir = pkg
	cmd.Env = append(os.Environ(), "BERTH_MUTANT="+strconv.Itoa(id))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil && id == 0 {
		fmt.Fprintln(os.Stderr, out.String())
	}
	return err != nil, nil
}
