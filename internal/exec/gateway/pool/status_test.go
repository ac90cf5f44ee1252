package pool

import (
	"reflect"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

const reported = `
state: Ready
addresses: [{type: InternalDNS, address: gw.svc}]
daemonEndpoints: {machinepoolletEndpoint: {port: 12319}}
availableMachineClasses: [{name: small}, {name: large}]
capacity: {class/machine.small: "20", class/machine.large: "2"}
allocatable: {class/machine.small: "18", class/machine.large: "2"}
conditions: [`

const ready = `{type: Ready, status: "True", reason: HeartbeatReceived, message: the gateway of berth serves the pool,
  lastTransitionTime: "2030-01-01T00:00:00Z"}`

// TestStatus is what a status becomes.
func TestStatus(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const disk, earlier = `{type: Disk, status: "True"}`, `{type: Ready, status: "True", reason: HeartbeatReceived,
		message: the gateway of berth serves the pool, lastTransitionTime: "2029-01-01T00:00:00Z"}`
	for name, c := range map[string]struct {
		current, want string
		same          bool
	}{
		"nothing":  {"{}", reported + ready + "]", false},
		"the same": {reported + earlier + "]", reported + earlier + "]", true},
		"not ready": {
			reported + `{type: Ready, status: Unknown, lastTransitionTime: "2029-06-01T00:00:00Z"}]`,
			reported + ready + "]", false,
		},
		"another reason": {
			reported + `{type: Ready, status: "True", reason: X, lastTransitionTime: "2029-01-01T00:00:00Z"}]`,
			reported + earlier + "]", false,
		},
		"another condition": {reported + disk + "]", reported + disk + "," + ready + "]", false},
		"Ready twice":       {reported + earlier + "," + earlier + "]", reported + earlier + "]", false},
		"another state": {"state: Pending\naddresses: [{type: InternalIP, address: 1.1.1.1}]", reported + ready +
			"]", false},
		"more than is reported": {
			reported + earlier + "]\nmachines: 3", reported + earlier + "]\nmachines: 3", true,
		},
		"a class that is not offered": {
			"capacity: {class/machine.huge: \"1\"}\navailableMachineClasses: [{name: huge}]", reported + ready + "]",
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, differs := report().status(parsed(t, c.current), now)
			if differs == c.same || !reflect.DeepEqual(text(t, got), text(t, parsed(t, c.want))) {
				t.Errorf("differs: %t\n%s\nwant\n%s", differs, text(t, got), text(t, parsed(t, c.want)))
			}
		})
	}
}

// A number is written as an API server gives it back, so that it is not written again.
func TestQuantity(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 20: "20", 1000: "1k", 1500: "1500", 12000: "12k"} {
		if got := quantity(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func text(t *testing.T, status map[string]any) string {
	t.Helper()
	out, err := yaml.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// parsed is a status as a client has it: whole numbers are int64.
func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	status := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &status); err != nil {
		t.Fatal(err)
	}
	if endpoints, is := status["daemonEndpoints"].(map[string]any); is {
		endpoints["machinepoolletEndpoint"] = map[string]any{"port": int64(12319)}
	}
	return status
}
