package provision

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/userstring"
)

// undertaking is a command, and what was done before it.
type undertaking struct {
	before  []string
	command string
}

// undertakings are what is done with a workspace.
func undertakings() []undertaking {
	return []undertaking{
		{nil, "preview"},
		{nil, "provision again"},
		{nil, "update nothing"},
		{nil, "update or provision"},
		{nil, "preview of a creation"},
		{nil, "provision into a new namespace"},
		{nil, "preview into a new namespace"},
		{[]string{"lock to provision"}, "provision again"},
		{[]string{"lock to provision"}, "provision without waiting"},
		{[]string{"lock to delete"}, "provision again"},
		{[]string{"provision", "lock to provision"}, "delete"},
		{[]string{"provision", "lock to delete"}, "delete"},
		{[]string{"provision", "lock to provision"}, "stop"},
		{[]string{"provision", "hold the pod"}, "delete"},
		{[]string{"provision", "hold the pod"}, "stop"},
		{[]string{"provision", "hold the pod"}, "restart"},
		{[]string{"provision", "stop"}, "start by its ID"},
		{[]string{"provision", "stop", "lose"}, "start by its ID"},
		{[]string{"provision", "stop", "lose"}, "provision again"},
		{[]string{"provision", "stop", "lose"}, "start"},
		{[]string{"provision", "stop", "lose"}, "delete"},
		{[]string{"provision", "stop", "damage"}, "provision again"},
		{[]string{"provision", "stop", "damage"}, "delete"},
		{[]string{"provision", "stop", "forget its values"}, "provision again"},
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
		{[]string{"provision", "stop"}, "start as ordered"},
		{[]string{"provision", "stop"}, "start as ordered before"},
		{[]string{"provision", "stop"}, "provision again"},
		{[]string{"provision", "stop"}, "delete"},
		{[]string{"provision", "damage Helm's record"}, "delete"},
		{[]string{"provision", "keep"}, "provision again"},
		{[]string{"provision"}, "delete"},
		{[]string{"provision"}, "keep"},
		{[]string{"provision"}, "preview of a deletion"},
		{[]string{"provision", "stop"}, "measure its storage"},
		{[]string{"provision"}, "preview of a deletion without storage"},
		{[]string{"provision", "forget"}, "adopt"},
		{[]string{"provision", "stop", "forget"}, "adopt without a pod"},
	}
}

func (u undertaking) String() string {
	return strings.Join(append(slices.Clone(u.before), u.command), ", ")
}

// Each request of each command is refused in turn: testdata/refused says what comes of it, line
// by line. Whatever that is, the workspace can be deleted afterwards, and nothing is left then.
func TestRefusedRequests(t *testing.T) {
	dir := modelDir(t)
	for target, user := range map[string]string{"injected": modelInjected, "standalone": "alice~model"} {
		u, err := userstring.Parse(user)
		if err != nil {
			t.Fatal(err)
		}
		for i, undertaken := range undertakings() {
			if raceEnabled && i%5 != 0 {
				continue // make test runs all of them without the race detector
			}
			t.Run(target+"/"+undertaken.String(), func(t *testing.T) {
				r := refusal{undertaking: undertaken, s: suspension{id: u.ID(), user: user, blueprints: dir, injected: target == "injected"}}
				r.prepared, r.at = r.prepare(t)
				requests := r.requests(t)
				var text strings.Builder
				fmt.Fprintf(&text, "undisturbed\n%s", lines(r.undisturbed))
				for _, what := range slices.Sorted(maps.Keys(requests)) {
					r.what = what
					text.WriteString(what + "\n" + r.tryAll(t, requests[what]))
				}
				goldentest.Check(t, "refused/"+target+" "+undertaken.String()+".txt", text.String())
			})
		}
	}
}

func lines(all []string) string {
	if len(all) == 0 {
		return "    as undisturbed\n"
	}
	return "    " + strings.Join(all, "\n    ") + "\n"
}
