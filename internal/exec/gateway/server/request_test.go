package server

import (
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// A path names exactly one object, or nothing.
func TestObjectAt(t *testing.T) {
	workspace := Object{Kind: Workspace, Namespace: "dev", Name: "alice-2bd806c"}
	for path, want := range map[string]Object{
		"/apis/berth.dev/v1/namespaces/dev/workspaces/alice-2bd806c/exec": workspace,
		"/apis/compute.ironcore.dev/namespaces/dev/machines/vm.1/exec": {
			Kind:      Machine,
			Namespace: "dev", Name: "vm.1",
		},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/alice-2bd806c/exec/":                     {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/alice-2bd806c":                           {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/Alice/exec":                              {},
		"/apis/berth.dev/v1/namespaces//workspaces/alice/exec":                                 {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces//exec":                                   {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/../exec":                                 {},
		"/apis/berth.dev/v1/namespaces/dev/../prod/workspaces/alice/exec":                      {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/a%2f..%2fb/exec":                         {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/%61lice/exec":                            {},
		"/apis/berth.dev/v1/namespaces/dev%2fworkspaces%2fbob%2fexec%3f/workspaces/alice/exec": {},
		"//apis/berth.dev/v1/namespaces/dev/workspaces/alice/exec":                             {},
		"/apis/berth.dev/v2/namespaces/dev/workspaces/alice/exec":                              {},
		"/APIS/berth.dev/v1/namespaces/dev/workspaces/alice/exec":                              {},
		"/apis/compute.ironcore.dev/v1alpha1/namespaces/dev/machines/vm/exec":                  {},
		"/apis/berth.dev/v1/namespaces/dev/workspaces/alice;x/exec":                            {},
	} {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, named := ObjectAt(u); got != want || named != (want != Object{}) {
			t.Errorf("%s names %+v, want %+v", path, got, want)
		}
	}
}

// Whether the caller may enter is asked of that object, whatever else is in the request; of a machine as the method
// says, which is what a poollet asks.
func TestAccess(t *testing.T) {
	workspace, vm := Object{Workspace, "dev", "alice"}, Object{Machine, "dev", "vm"}
	for _, c := range []struct {
		o            Object
		method, want string
	}{
		{workspace, http.MethodGet, "create workspaces.berth.dev/exec alice in namespace dev"},
		{workspace, http.MethodPost, "create workspaces.berth.dev/exec alice in namespace dev"},
		{vm, http.MethodGet, "get machinepools.compute.ironcore.dev/proxy pool"},
		{vm, http.MethodPost, "create machinepools.compute.ironcore.dev/proxy pool"},
	} {
		if got := c.o.Access("pool", c.method).String(); got != c.want {
			t.Errorf("%s %+v takes %q, want %q", c.method, c.o, got, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for query, want := range map[string]Options{
		"stdin=true&stdout=true&tty=1&command=ls&command=a+b&container=side&user=dev": {
			Container: "side", User: "dev",
			Command: []string{"ls", "a b"}, Stdin: true, Stdout: true, TTY: true,
		},
		"stdout=true&stderr=true":             {Stdout: true, Stderr: true},
		"stdout=true&login=true&command=make": {Stdout: true, Login: true, Command: []string{"make"}},
	} {
		if got, err := OptionsOf(Workspace, query); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, %v", query, got, err)
		}
	}
	for query, says := range map[string]string{
		"":                                 "at least one of stdin, stdout and stderr is required",
		"stdout=true&pod=other":            `unknown option "pod"`,
		"stdout=maybe":                     `option "stdout" must be true or false`,
		"stdout=true&stdout=false":         `option "stdout" is given 2 times`,
		"stdout=true&stderr=true&tty=true": "a terminal has no stderr of its own",
		"stdout=%zz":                       `the query cannot be read: invalid URL escape "%zz"`,
	} {
		if _, err := OptionsOf(Workspace, query); fault.CodeOf(err) != fault.InvalidArgument || err.Error() != says {
			t.Errorf("%s: %v, want %s", query, err, says)
		}
	}
	if got, err := OptionsOf(Machine, "command=rm"); err != nil ||
		!reflect.DeepEqual(got, Options{Stdin: true, Stdout: true, TTY: true}) {
		t.Errorf("a machine has %+v, %v", got, err)
	}
}
