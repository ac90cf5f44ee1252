package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// runner runs tests with changes. A test is compiled when it is needed.
type runner struct {
	dir, overlay string
	tests        map[string]test
}

// test is the compiled test of a package, and how long it may take.
type test struct {
	binary string
	limit  time.Duration
}

func run(ctx context.Context, changes []place) error {
	dir, err := os.MkdirTemp("", "berth-mutate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var switched []place
	for _, p := range changes {
		if !p.constant {
			switched = append(switched, p)
		}
	}
	r := &runner{dir: dir, tests: map[string]test{}}
	if r.overlay, err = overlay(dir, switched); err != nil {
		return err
	}
	all, noticed := map[string]int{}, map[string]int{}
	for _, p := range changes {
		by, err := r.notices(ctx, p)
		if err != nil {
			return err
		}
		all[p.pkg]++
		if by != "" {
			noticed[p.pkg]++
			fmt.Printf("noticed by %s: %s\n", by, p)
		} else {
			fmt.Printf("NOT NOTICED: %s\n", p)
		}
	}
	total, found := 0, 0
	for pkg, n := range all {
		fmt.Printf("%s: %d of %d\n", pkg, noticed[pkg], n)
		total, found = total+n, found+noticed[pkg]
	}
	fmt.Printf("noticed: %d of %d, %.1f %%\n", found, total, 100*float64(found)/float64(max(total, 1)))
	return nil
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
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", r.overlay, "-o", t.binary, "./"+pkg) //nolint:gosec // of the checkout
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
		t.limit = 30*time.Second + 4*time.Since(begun)
	}
	r.tests[pkg] = t
	return t, nil
}

// fails runs a test under a change. One that does not end fails, too.
func (t test) fails(ctx context.Context, pkg string, id int) (bool, error) {
	limited, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, t.binary, "-test.failfast", "-test.short", "-test.paniconexit0") //nolint:gosec // it has been built here
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
