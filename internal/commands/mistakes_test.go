package commands_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// What is mistyped on a command line is answered with what is meant, and never with the words
// of a parser.
func TestMistypedFlags(t *testing.T) {
	cmdtest.Offline(t)
	for typed, says := range map[string]string{
		"provision alice --tiemout 5m": "hint:  did you mean --timeout?",
		"status --onwer alice":         "hint:  did you mean --owner?",
		"delete --all":                 "name the workspaces, or take all of a user: --owner USER",
		"status --al-namespaces":       "hint:  did you mean --all-namespaces?",
		"provision alice --timeout 5": `invalid argument "5" for "--timeout" flag: must be a number with ` +
			`its unit, such as 5s or 5m`,
		"provision alice --timeout soon":         "must be a number with its unit, such as 90s or 5m",
		"logs alice --tail x":                    `invalid argument "x" for "--tail" flag: must be a whole number`,
		"logs alice --tail 99999999999999999999": "is too large",
		"logs alice --since 1d":                  "must be a number with its unit, such as 90s or 5m",
		"provision -f - --parallel many":         "must be a whole number",
		"provision alice --if-not-exists=maybe":  "must be true or false",
		"provision -alice": "a name that begins with - goes after --: `berth " +
			"provision -- -alice`",
		"exec --alice":          "a name that begins with - goes after --: `berth exec -- --alice`",
		"version --nosuch":      "hint:  see `berth version --help`",
		"explain oom":           "OOMKilled",
		"explain imagenotfuond": "did you mean `berth explain ImageNotFound`?",
		"explain nosuchthing":   "`berth explain` lists the causes",
		"jobs stat":             "did you mean `berth jobs stats`?",
		"jobs statistics":       "did you mean `berth jobs stats`?",
		"cp alice:x bob:y":      "a file of this machine whose name has a colon is written ./alice:x",
	} {
		status, _, stderr := cmdtest.Run(t, "", strings.Fields(typed)...)
		if status != 2 && status != 125 || !strings.Contains(stderr, says) || strings.Contains(stderr, "strconv") ||
			strings.Contains(stderr, "time: ") {
			t.Errorf("berth %s: status %d, want %q\n%s", typed, status, says, stderr)
		}
	}
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	for _, typed := range []string{"provision -- -alice", "exec -- -alice -- true", "status -- -alice"} {
		if status, _, stderr := cmdtest.Run(t, "", strings.Fields(typed)...); status != 0 {
			t.Errorf("berth %s: status %d\n%s", typed, status, stderr)
		}
	}
}

// A workspace that does not exist is answered with the one that has a name like it, also if
// that is stopped, and otherwise with how it can be made.
func TestMistypedWorkspaces(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice~default")
	cmdtest.Must(t, 0, "provision", "bob~default")
	cmdtest.Must(t, 0, "stop", "bob~default")
	for typed, meant := range map[string]string{
		"alise~default": "alice~default", "alice~defalt": "alice~default", "bbo~default": "bob~default",
		"alice~def": "alice~default",
	} {
		for verb, args := range named(t, typed, "update") { // which would make one of this blueprint
			status, _, stderr := cmdtest.Run(t, "", args...)
			if status != 7 && status != 125 || !strings.Contains(stderr, "did you mean "+meant+"?") ||
				strings.Contains(stderr, "berth provision") {
				t.Errorf("berth %s %s: %d\n%s", verb, typed, status, stderr)
			}
		}
	}
	if _, stderr := cmdtest.Must(t, 7, "cp", "alise~default:x", "."); !strings.Contains(stderr,
		"did you mean alice~default?") || !strings.Contains(stderr, "./NAME") {
		t.Error(stderr)
	}
	if _, stderr := cmdtest.Must(t, 7, "status", "dave~nosuch"); !strings.Contains(stderr,
		"creates it if there is a blueprint nosuch") {
		t.Error(stderr)
	}
	cmdtest.Must(t, 0, "delete", "alise~default", "--ignore-not-found")
}

// Copies and logs of a workspace that is stopped say so, with the command that starts it.
func TestCopiesAndLogsOfStopped(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice")
	cmdtest.Must(t, 0, "stop", "alice")
	for _, args := range []string{
		"cp alice:x .", "cp go.mod alice:", "logs alice", "logs alice -f",
		"logs alice --all-containers",
	} {
		_, stderr := cmdtest.Must(t, 3, append(strings.Fields(args), "-n", "team")...)
		if !strings.Contains(stderr, "workspace alice-a975fae is stopped") ||
			!strings.Contains(stderr, "start it: berth start alice -n team") {
			t.Errorf("berth %s: %s", args, stderr)
		}
	}
}

// The log of a workspace that has failed is not waited for.
func TestLogsOfFailed(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice")
	at := server.Names("pods")[0]
	pod := server.Get(at)
	_ = unstructured.SetNestedField(pod.Object, "Pending", "status", "phase")
	_ = unstructured.SetNestedSlice(pod.Object, []any{map[string]any{
		"name": "k8shell-main", "ready": false,
		"state": map[string]any{"waiting": map[string]any{
			"reason":  "ImagePullBackOff",
			"message": `Back-off pulling image "x": not found`,
		}},
	}}, "status", "containerStatuses")
	_ = unstructured.SetNestedSlice(pod.Object, nil, "status", "conditions")
	server.Put(at, pod)
	for _, args := range []string{"logs alice -f", "logs alice -f --all-containers"} {
		if _, stderr := cmdtest.Must(t, 3, strings.Fields(args)...); !strings.Contains(stderr, "does not start: ") ||
			!strings.Contains(stderr, "berth status") {
			t.Errorf("berth %s: %s", args, stderr)
		}
	}
}

// A list of a namespace that does not exist says so.
func TestStatusOfNoNamespace(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	if stdout, stderr := cmdtest.Must(t, 0, "status", "-n", "nosuch"); !strings.Contains(stderr,
		"namespace nosuch does not exist") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if _, stderr := cmdtest.Must(t, 0, "status", "-n", "team"); strings.Contains(stderr, "does not exist") {
		t.Error(stderr)
	}
}
