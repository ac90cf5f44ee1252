package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// front are the machines of users, by namespace/name. None of them runs under its own name.
type front map[string]machine.Machine

func (f front) Machine(_ context.Context, namespace, name string) (machine.Machine, error) {
	m, is := f[namespace+"/"+name]
	if !is {
		return m, fault.New(fault.NotFound, "machine %s not found", name)
	}
	if m.Name == "forbidden" {
		return m, fault.New(fault.PermissionDenied, "the gateway may not")
	}
	return m, nil
}

func (front) Pool(context.Context, string) (machine.Pool, error) { return machine.Pool{}, nil }

// users are machines of the pool east, each with the ID of its own name turned around.
func users() front {
	all := front{}
	for _, name := range []string{
		"web", "lost", "closed", "broken", "taken", "elsewhere", "expired", "full", "removed", "other", "bare",
		"forbidden",
	} {
		all["dev/"+name] = machine.Machine{
			Namespace: "dev", Name: name, UID: "uid-" + name, Pool: "east", ID: "machinebroker://" + id(name),
		}
	}
	change := func(name string, to func(*machine.Machine)) {
		m := all["dev/web"]
		to(&m)
		all["dev/"+name] = m
	}
	change("west", func(m *machine.Machine) { m.Pool = "west" })
	change("unscheduled", func(m *machine.Machine) { m.Pool = "" })
	change("starting", func(m *machine.Machine) { m.ID = "" })
	change("climbing", func(m *machine.Machine) { m.ID = "machinebroker://../secrets" })
	all["prod/web"] = machine.Machine{Namespace: "prod", Name: "web", UID: "uid-2", Pool: "east", ID: all["dev/web"].ID}
	return all
}

// id is what a machine is called where it runs.
func id(name string) string { return "id-of-" + name }

// there is a machine as the API server has it that runs it.
func there(name string) string {
	uid := "uid-" + name
	switch name {
	case "other":
		uid = "uid-of-another"
	case "bare":
		uid = ""
	}
	return `{"apiVersion":"compute.ironcore.dev/v1alpha1","kind":"Machine","metadata":{"name":"` + id(name) +
		`","labels":{"machinepoollet.ironcore.dev/machine-uid":"` + uid + `"}}}`
}

// target is an API server that has machines: each name is known for what becomes of it. All
// are asked for in the namespace broker, with the gateway's token.
func target(t *testing.T) *kube.Client {
	t.Helper()
	mux := http.NewServeMux()
	get := strings.TrimSuffix(machine.Path("broker", "NAME"), "/exec")
	mux.HandleFunc("GET "+strings.Replace(get, "NAME", "{name}", 1), func(w http.ResponseWriter, r *http.Request) {
		name, is := strings.CutPrefix(r.PathValue("name"), id(""))
		codes := map[string]int{"lost": http.StatusNotFound, "closed": 403, "broken": http.StatusNotImplemented}
		code := codes[name]
		if !is {
			t.Errorf("a machine is asked for by the name %s", r.PathValue("name"))
			code = http.StatusNotFound
		}
		w.Header().Set("Content-Type", "application/json")
		if code != 0 {
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
				Status:   metav1.StatusFailure, Code: int32(code),
				Message: "words of the target",
			}) //nolint:gosec // a status of HTTP
			return
		}
		_, _ = io.WriteString(w, there(name))
	})
	mux.HandleFunc(strings.Replace(machine.Path("broker", "NAME"), "NAME", "{name}", 1),
		func(w http.ResponseWriter, r *http.Request) {
			switch r.PathValue("name") {
			case id("elsewhere"):
				http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusTemporaryRedirect)
				return
			case id("taken"):
				http.Error(w, "words of the target", http.StatusConflict)
				return
			case id("expired"):
				http.Error(w, "words of the target", http.StatusNotFound)
				return
			case id("full"):
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = io.WriteString(w,
					`{"kind":"Status","status":"Failure","code":429,"message":"words of the target"}`)
				return
			case id("removed"):
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, `{"kind":"Status","status":"Failure","code":404,`+
					`"message":"404 page not found, words of the target"}`)
				return
			}
			r.URL.RawQuery = "stdin=true&stdout=true&tty=true"
			kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
				typed := make([]byte, 5)
				_, _ = io.ReadFull(streams["stdin"], typed)
				_, _ = io.WriteString(streams["stdout"], "got "+string(typed))
				_ = streams["stdout"].Close()
				_, _ = io.WriteString(streams["error"], `{"status":"Success"}`)
				_ = streams["error"].Close()
			})
		})
	return clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-gateway" {
			t.Errorf("%s is asked for with %v", r.URL, r.Header)
		}
		mux.ServeHTTP(w, r)
	}))
}

// clientOf is a client of an API server.
func clientOf(t *testing.T, api http.Handler) *kube.Client {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, BearerToken: "of-the-gateway", QPS: -1}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &kube.Client{Interface: typed, Dynamic: untyped, Config: config}
}

// A console is that of the machine that is meant: the one that has its ID and its UID where it runs, and is in the
// pool. What the target says is for the log alone, and so are its address and whom it redirects to.
func TestMachines(t *testing.T) {
	const unreached = "; the log of the gateway says why"
	client := target(t)
	for name, c := range map[string]struct {
		code   fault.Code
		says   string
		logged bool
	}{
		"dev/web":  {},
		"dev/none": {fault.NotFound, "machine none not found in namespace dev", false},
		"dev/west": {fault.NotFound, "machine west in namespace dev is not in machine pool east", false},
		"dev/unscheduled": {
			fault.NotFound, "machine unscheduled in namespace dev is not in machine pool east", false,
		},
		"dev/starting": {
			fault.Failed, "machine starting in namespace dev does not run in machine pool east yet", false,
		},
		"dev/climbing": {fault.Failed, "machine climbing in namespace dev does not run in machine pool east yet",
			false},
		"dev/lost": {
			fault.NotFound, "machine lost not found in namespace dev: it does not run as its pool reports it", true,
		},
		"dev/other": {
			fault.NotFound, "machine other not found in namespace dev: it does not run as its pool reports it", true,
		},
		"dev/bare": {
			fault.NotFound, "machine bare not found in namespace dev: it does not run as its pool reports it", true,
		},
		"prod/web":      {fault.NotFound, "machine web not found in namespace prod: it does not run", true},
		"dev/forbidden": {fault.PermissionDenied, "the gateway may not", false},
		"dev/closed":    {fault.Internal, "the console of machine closed cannot be reached" + unreached, true},
		"dev/broken":    {fault.Internal, "the console of machine broken cannot be reached" + unreached, true},
		"dev/taken":     {fault.Internal, "the console of machine taken cannot be reached" + unreached, true},
		"dev/elsewhere": {fault.Internal, "the console of machine elsewhere cannot be reached" + unreached, true},
		"dev/expired":   {fault.Unavailable, "the runtime of machine expired does not know the URL", true},
		"dev/removed":   {fault.Internal, "the console of machine removed cannot be reached" + unreached, true},
		"dev/full":      {fault.Unavailable, "the runtime of machine full has too many sessions", true},
	} {
		t.Run(name, func(t *testing.T) {
			var log, out bytes.Buffer
			find := Machines(users(), client, Consoles{Pool: "east", There: "broker"},
				slog.New(slog.NewJSONHandler(&log, nil)))
			o := Object{Kind: Machine}
			o.Namespace, o.Name, _ = strings.Cut(name, "/")
			run, err := find(t.Context(), o, Options{})
			if err == nil {
				_, err = run(t.Context(), nil, machine.Session(exec.Session{
					Stdin:  strings.NewReader("typed"),
					Stdout: &out,
				}))
			}
			if fault.CodeOf(err) != c.code {
				t.Fatalf("%s: %v", fault.CodeOf(err), err)
			}
			if err == nil {
				if out.String() != "got typed" {
					t.Errorf("%q is printed", &out)
				}
				return
			}
			if said := err.Error(); !strings.HasPrefix(said, c.says) || strings.Contains(said, "words of the target") ||
				strings.Contains(said, "127.0.0.1") || strings.Contains(said, "example.com") {
				t.Errorf("a user reads %q", said)
			}
			if strings.Contains(log.String(), `"machine":"`+o.Name+`"`) != c.logged {
				t.Errorf("the log says %q", &log)
			}
		})
	}
}

// Only the machines of one namespace are served where one is named.
func TestMachinesOfOneNamespace(t *testing.T) {
	find := Machines(users(), target(t), Consoles{Pool: "east", Namespace: "prod", There: "broker"},
		slog.New(slog.DiscardHandler))
	_, err := find(t.Context(), Object{Kind: Machine, Namespace: "dev", Name: "web"}, Options{})
	if fault.CodeOf(err) != fault.NotFound || err.Error() != "machine web not found in namespace dev" {
		t.Error(err)
	}
}

// A user who has left is nothing to write down.
func TestMachineOfAUserWhoHasLeft(t *testing.T) {
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Machines(users(), target(t), Consoles{Pool: "east", There: "broker"},
		slog.New(slog.NewJSONHandler(&log, nil)))(ctx, Object{Namespace: "dev", Name: "web"}, Options{})
	if err == nil || log.Len() > 0 {
		t.Errorf("%v; the log says %s", err, &log)
	}
}
