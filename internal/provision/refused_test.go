package provision

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/userstring"
)

// scenario is a command, and what was done before it.
type scenario struct {
	before  []string
	command string
}

// scenarios are what is done with a workspace.
func scenarios() []scenario {
	return []scenario{
		{nil, "preview"},
		{nil, "provision again"},
		{nil, "update nothing"},
		{nil, "update or provision"},
		{nil, "preview of a creation"},
		{nil, "provision into a new namespace"},
		{nil, "preview into a new namespace"},
		{[]string{"lock by another provision"}, "provision again"},
		{[]string{"lock by another provision"}, "provision without waiting"},
		{[]string{"lock by another delete"}, "provision again"},
		{[]string{"provision", "lock by another provision"}, "delete"},
		{[]string{"provision", "lock by another delete"}, "delete"},
		{[]string{"provision", "lock by another provision"}, "stop"},
		{[]string{"provision", "make its pod hang"}, "delete"},
		{[]string{"provision", "make its pod hang"}, "stop"},
		{[]string{"provision", "make its pod hang"}, "restart"},
		{[]string{"provision", "stop"}, "start by its ID"},
		{[]string{"provision", "stop", "lose all but its record"}, "start by its ID"},
		{[]string{"provision", "stop", "lose all but its record"}, "provision again"},
		{[]string{"provision", "stop", "lose all but its record"}, "start"},
		{[]string{"provision", "stop", "lose all but its record"}, "delete"},
		{[]string{"provision", "stop", "damage its record"}, "provision again"},
		{[]string{"provision", "stop", "damage its record"}, "delete"},
		{[]string{"provision", "stop", "lose its recorded values"}, "provision again"},
		{[]string{"provision what fails and stays"}, "provision again"},
		{[]string{"provision what fails and stays"}, "provision what fails"},
		{[]string{"provision what fails and stays"}, "await"},
		{[]string{"provision what fails and stays"}, "stop"},
		{nil, "provision without waiting"},
		{nil, "provision what fails"},
		{nil, "provision a shared storage"},
		{[]string{"provision"}, "provision again"},
		{[]string{"provision"}, "inspect"},
		{[]string{"provision"}, "await"},
		{[]string{"provision"}, "update to more storage"},
		{[]string{"provision"}, "update to less storage"},
		{[]string{"provision"}, "update nothing"},
		{[]string{"provision"}, "preview"},
		{[]string{"provision"}, "preview of an update"},
		{[]string{"provision"}, "preview of an update here"},
		{[]string{"provision", "stop"}, "update the environment"},
		{[]string{"provision", "stop"}, "preview of an update"},
		{[]string{"provision"}, "roll back"},
		{[]string{"provision", "update the environment"}, "roll back"},
		{[]string{"provision"}, "stop"},
		{[]string{"provision"}, "restart"},
		{[]string{"provision"}, "stop without waiting"},
		{[]string{"provision", "stop"}, "start"},
		{[]string{"provision", "stop"}, "start with its intent"},
		{[]string{"provision", "stop"}, "start with an old intent"},
		{[]string{"provision", "stop"}, "provision again"},
		{[]string{"provision", "stop"}, "delete"},
		{[]string{"provision", "damage Helm's record"}, "delete"},
		{[]string{"provision", "keep"}, "provision again"},
		{[]string{"provision"}, "delete"},
		{[]string{"provision"}, "keep"},
		{[]string{"provision"}, "preview of a deletion"},
		{[]string{"provision", "stop"}, "measure its storage"},
		{[]string{"provision"}, "preview of a deletion without storage"},
		{[]string{"provision", "lose its record"}, "adopt"},
		{[]string{"provision", "stop", "lose its record"}, "adopt without a pod"},
	}
}

func (sc scenario) String() string {
	return strings.Join(append(slices.Clone(sc.before), sc.command), ", ")
}

// Each request of each command is refused in turn, and testdata/refused.txt says what comes of it.
// Afterwards the workspace can be deleted in each case, and nothing is left.
func TestRefusedRequests(t *testing.T) {
	const file = "refused.txt"
	text, err := os.ReadFile("testdata/" + file)
	if err != nil && !goldentest.Updating() {
		t.Fatal(err)
	}
	want, all := parseOutcomes(string(text)), outcomes{}
	for mode, user := range map[string]string{"injected": modelInjected, "standalone": "alice~model"} {
		for i, sc := range scenarios() {
			r, got := situation{mode, sc.String()}, want
			if !raceEnabled || i%5 == 0 { // make test runs all of them without the race detector
				t.Run(mode+"/"+r.command, func(t *testing.T) {
					got = sc.refused(t, r, user)
					if diff := want.diff(got, r); diff != "" && !goldentest.Updating() {
						t.Errorf("%s (-want +got); run the test with -update to write it:\n%s", file, diff)
					}
				})
			}
			maps.Copy(all, got.only(r))
		}
	}
	if !t.Failed() {
		goldentest.Check(t, file, all.String())
	}
}

// refused returns the outcomes of a scenario, for each of its requests with each of its faults.
func (sc scenario) refused(t *testing.T, of situation, user string) outcomes {
	u, err := userstring.Parse(user)
	if err != nil {
		t.Fatal(err)
	}
	r := refusal{scenario: sc, s: pause{
		id: u.ID(), user: user, blueprints: modelDir(t), injected: of.mode == "injected",
	}}
	r.prepared, r.at = r.prepare(t)
	requests, all := r.requests(t), outcomes{}
	all[disturbed{of, "no request", "undisturbed"}] = strings.Join(r.undisturbed, "\n")
	for what, times := range requests {
		r.what = what
		for _, r.disruption = range disruptions(what, times) {
			got, ok := r.try(t)
			if !ok {
				continue
			}
			d := disturbed{of, what, r.disruption.name}
			for i := range got {
				got[i] = d.inShort(got[i])
			}
			all[d] = orUndisturbed(strings.Join(got, "\n"))
		}
	}
	return all
}

func orUndisturbed(outcome string) string {
	if outcome == "" {
		return "as undisturbed"
	}
	return outcome
}
