package ssh

import (
	"testing"

	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// What helps, a client of ssh can do: it has no flags of berth, and its commands lead to the cluster of the connection.
func TestHints(t *testing.T) {
	const lists = "`berth status` lists them; " + inventory.Elsewhere
	missing := func(reason, hint string) *fault.Error {
		return fault.New(fault.NotFound, "not found").WithReason(reason).WithHint("%s", hint)
	}
	host := &ProxyOptions{Suffix: "berth", Flags: []string{"--context kind"}}
	berth := &ProxyOptions{Workspace: "alice", Flags: []string{"--context kind"}, Meant: "look"}
	for name, c := range map[string]struct {
		from *ProxyOptions
		of   Name
		err  *fault.Error
		want string
	}{
		"not found": {
			host,
			Name{},
			missing("", lists),
			"`berth status --context kind` lists them; ID.NAMESPACE.berth is one of another namespace",
		},
		"not found in a namespace": {
			host,
			Name{Namespace: "look"},
			missing("", lists),
			"`berth status --context kind --namespace look` lists them; ID.NAMESPACE.berth is one of another namespace",
		},
		"no namespace": {
			host,
			Name{Namespace: "elsewhere"},
			missing(inventory.ReasonNoNamespace, "choose another one with --namespace"),
			"a host name with the namespace is ID.NAMESPACE.berth; " +
				"`berth status --all-namespaces --context kind` lists them",
		},
		"-n was ssh's": {
			berth,
			Name{},
			missing("", lists),
			"-n behind the workspace is ssh's own; for a namespace write: berth ssh -n look alice",
		},
		"no pod": {
			berth,
			Name{},
			missing(inventory.ReasonPodGone, "start it: berth start alice --context kind"),
			"start it: berth start alice --context kind",
		},
		"a command that is not quoted": {
			host,
			Name{},
			fault.New(fault.Failed, "x").WithHint("see why: berth status id/alice --namespace look"),
			"see why: berth status id/alice --namespace look --context kind",
		},
		"none": {host, Name{}, fault.New(fault.Failed, "x"), ""},
	} {
		if got := c.from.hints(c.of).of(c.err); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A session that was over before its command has the status of a command that was killed.
func TestOverInTheClient(t *testing.T) {
	text, status := hints{flags: []string{"--context kind"}}.explain(
		fault.New(fault.Failed, "pod alice-1 was deleted").WithReason(pod.ReasonOver).
			WithHint("start it again: berth start id/alice-1 --namespace dev"))
	const want = "berth: pod alice-1 was deleted\n" +
		"hint: start it again: berth start id/alice-1 --namespace dev --context kind\n"
	if text != want || status != pod.Killed {
		t.Errorf("%q, %d", text, status)
	}
}

// Where ssh would take a host name of the configuration, and a user in front, so does berth; all else is a user string.
func TestTyped(t *testing.T) {
	for text, want := range map[string]struct {
		user string
		Name
	}{
		"alice-59936c3.berth":          {"", Name{Workspace: "alice-59936c3"}},
		"alice-59936c3.look.berth":     {"", Name{"alice-59936c3", "look"}},
		"root@alice-59936c3.berth":     {"root", Name{Workspace: "alice-59936c3"}},
		"root@alice-59936c3":           {"root", Name{Workspace: "alice-59936c3"}},
		"alice-59936c3":                {},
		"alice.berth":                  {},
		"alice@example.com":            {},
		"root@alice":                   {},
		"alice~dev":                    {},
		"@alice-59936c3":               {},
		"alice-59936c3.a.b.berth":      {},
		"alice-59936c3.example.com":    {},
		"root@alice-59936c3.some.host": {},
	} {
		user, name, ok := typed(text)
		if !ok {
			user, name = "", Name{}
		}
		if user != want.user || name != want.Name {
			t.Errorf("%s: %q, %+v", text, user, name)
		}
	}
}
