//go:build e2e

package e2e

import (
	"os"
	"strconv"
	"testing"
)

// A sample is each third of tests that are many alike: kills at each request, permissions that are taken away one by
// one. make test takes another third for each commit, by the number of commits (BERTH_TEST_SAMPLE). Without that, as
// when a test is run by its name, and with BERTH_TEST_TORTURE=full, there are no samples: all of them run.
type sample struct {
	every, next int
}

func newSample(t *testing.T) *sample {
	t.Helper()
	commits := os.Getenv("BERTH_TEST_SAMPLE")
	if commits == "" || tortured() {
		return &sample{every: 1}
	}
	number, err := strconv.Atoi(commits)
	if err != nil {
		t.Fatalf("BERTH_TEST_SAMPLE: %v", err)
	}
	return &sample{every: 3, next: number}
}

// has says whether the next test is of the sample.
func (s *sample) has() bool {
	s.next++
	return s.next%s.every == 0
}

// tortured says whether everything is tried at each moment: make torture.
func tortured() bool { return os.Getenv("BERTH_TEST_TORTURE") == "full" }
