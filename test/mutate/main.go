// Command mutate changes the program in many places, one at a time, and runs the unit tests
// each time: a change that no test notices is a behaviour that nobody has written down.
//
// All changes are compiled in at once, each behind a switch that the environment sets, so that
// a test is linked once and not once for each change. Only numbers in constants are not: they
// take a build each. The checkout must stay as it is meanwhile.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := mutate(); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func mutate() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	number := flag.Int("n", 300, "how many places are changed, chosen evenly")
	first := flag.Int("first", 0, "which place is the first one, to choose others")
	numbers := flag.String("numbers", "",
		"test only these of the places that -n, -first and -only choose, such as 1-100,107")
	jobs := flag.Int("jobs", 4*runtime.NumCPU(), "how many are tested at a time")
	only := flag.String("only", "", "change only what begins with this, such as internal/watch/detect")
	checkout := flag.String("checkout", "../..", "the checkout that is changed")
	flag.Parse()
	if err := os.Chdir(*checkout); err != nil {
		return err
	}
	all, err := find(*only)
	if err != nil {
		return err
	}
	places, err := numbered(chosen(all, *number, *first), *numbers)
	if err != nil {
		return err
	}
	return run(ctx, places, *jobs)
}

// roots are the packages that are changed, with those below them.
func roots() []string {
	return []string{
		"internal/blueprint", "internal/chart", "internal/job", "internal/provision", "internal/release",
		"internal/userstring", "internal/watch",
	}
}

// testers are the packages whose tests may notice a change in a package: its own first, and
// at last those that run whole commands, which take longest.
func testers(pkg string) []string {
	others := map[string][]string{
		"internal/userstring": {
			"internal/provision/inventory", "internal/provision/manifest",
			"internal/blueprint/catalog",
		},
		"internal/blueprint": {
			"internal/blueprint", "internal/blueprint/original", "internal/blueprint/catalog",
			"internal/provision/manifest",
		},
		"internal/watch": {
			"internal/watch/judge", "internal/watch", "internal/watch/follow", "internal/diagnose",
			"internal/commands/diagnose", "internal/provision",
		},
		"internal/chart": {
			"internal/chart", "internal/release", "internal/bundle/format", "internal/commands/bundle",
		},
		"internal/job":       {"internal/commands/jobs"},
		"internal/release":   {"internal/provision/manifest", "internal/provision/standalone", "internal/provision"},
		"internal/provision": {"internal/provision/manifest", "internal/provision/standalone", "internal/provision"},
	}
	all := []string{pkg}
	for root, more := range others {
		if pkg == root || strings.HasPrefix(pkg, root+"/") {
			all = append(all, more...)
		}
	}
	return append(all, "internal/commands")
}

// chosen are n places out of all, evenly.
func chosen(all []place, n, first int) (some []place) {
	n = min(n, len(all))
	for i := range n {
		p := all[(i*len(all)/n+first)%len(all)]
		p.id = i + 1
		some = append(some, p)
	}
	return some
}

// numbered are the places with these numbers, each once; all of them if that is empty.
func numbered(all []place, numbers string) ([]place, error) {
	if numbers == "" {
		return all, nil
	}
	wanted := map[int]bool{}
	for part := range strings.SplitSeq(numbers, ",") {
		from, to, ranges := strings.Cut(part, "-")
		if !ranges {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, lastErr := strconv.Atoi(to)
		if err != nil || lastErr != nil || first < 1 || last < first || last > len(all) {
			return nil, fmt.Errorf("-numbers %s: %q is no number and no range of 1 to %d", numbers, part, len(all))
		}
		for n := first; n <= last; n++ {
			wanted[n] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p place) bool { return !wanted[p.id] }), nil
}
