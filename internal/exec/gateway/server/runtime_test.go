package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/iri"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/serve"
)

// labelled is a machine at a runtime.
func labelled(id, namespace, name, uid string) iri.Machine {
	m := iri.Machine{ID: id, Labels: map[string]string{}}
	for label, value := range map[string]string{
		iri.LabelNamespace: namespace, iri.LabelName: name, iri.LabelUID: uid,
	} {
		if value != "" {
			m.Labels[label] = value
		}
	}
	return m
}

// atRuntime are the machines of a runtime.
type atRuntime struct {
	machines []iri.Machine
	exec     func(id string) (*url.URL, error)
}

func (r atRuntime) Labelled(_ context.Context, labels map[string]string) (list []iri.Machine, _ error) {
	for _, m := range r.machines {
		is := true
		for label, value := range labels {
			is = is && m.Labels[label] == value
		}
		if is {
			list = append(list, m)
		}
	}
	return list, nil
}

func (r atRuntime) ByID(_ context.Context, id string) (list []iri.Machine, _ error) {
	for _, m := range r.machines {
		if m.ID == id {
			list = append(list, m)
		}
	}
	return list, nil
}

func (r atRuntime) Exec(_ context.Context, id string) (*url.URL, error) { return r.exec(id) }

// The machine that is entered has the labels of the one that is meant, or the ID that the pool reports; it never has a
// label of another one.
func TestMachineAtRuntime(t *testing.T) {
	const reported = "id-of-web"
	for name, c := range map[string]struct {
		machines []iri.Machine
		want     string
	}{
		"none":                            {nil, ""},
		"labels and the UID":              {[]iri.Machine{labelled("x", "dev", "web", "uid-web")}, "x"},
		"labels, no UID, the reported ID": {[]iri.Machine{labelled(reported, "dev", "web", "")}, reported},
		"labels, no UID, another ID":      {[]iri.Machine{labelled("x", "dev", "web", "")}, ""},
		"labels and another UID":          {[]iri.Machine{labelled("x", "dev", "web", "uid-of-before")}, ""},
		"only the UID, as of a broker":    {[]iri.Machine{labelled(reported, "", "", "uid-web")}, reported},
		"no labels, the reported ID":      {[]iri.Machine{labelled(reported, "", "", "")}, reported},
		"the ID, of another UID":          {[]iri.Machine{labelled(reported, "", "", "uid-other")}, ""},
		"the ID, of another name":         {[]iri.Machine{labelled(reported, "dev", "db", "")}, ""},
		"the ID, of another namespace":    {[]iri.Machine{labelled(reported, "prod", "web", "uid-web")}, ""},
		"one of before beside it": {[]iri.Machine{
			labelled("x", "dev", "web", "uid-of-before"), labelled("y", "dev", "web", "uid-web"),
		}, "y"},
		"two with the UID, one reported": {[]iri.Machine{
			labelled("x", "dev", "web", "uid-web"), labelled(reported, "dev", "web", "uid-web"),
		}, reported},
		"two with the UID, none reported": {[]iri.Machine{
			labelled("x", "dev", "web", "uid-web"), labelled("y", "dev", "web", "uid-web"),
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var entered string
			find := AtRuntime(users(), atRuntime{c.machines, func(id string) (*url.URL, error) {
				entered = id
				return &url.URL{}, nil
			}}, Consoles{Pool: "east"}, slog.New(slog.DiscardHandler))
			_, err := find(t.Context(), Object{Kind: Machine, Namespace: "dev", Name: "web"})
			if entered != c.want || (c.want == "") != (fault.CodeOf(err) == fault.NotFound) {
				t.Errorf("%q is entered: %v", entered, err)
			}
		})
	}
}

// A runtime may call a machine what is no name of Kubernetes.
func TestAnyIDAtRuntime(t *testing.T) {
	at := atRuntime{[]iri.Machine{labelled("VM_odd:1", "", "", "uid-web")}, func(id string) (*url.URL, error) {
		return &url.URL{Path: id}, nil
	}}
	to, err := AtRuntime(users(), at, Consoles{Pool: "east"}, slog.New(slog.DiscardHandler))(t.Context(),
		Object{Kind: Machine, Namespace: "dev", Name: "odd"})
	if err != nil || to.Path != "VM_odd:1" {
		t.Errorf("%v, %v", to, err)
	}
}

// behind is a gateway with a runtime, whose URLs are answered by a handler.
func behind(t *testing.T, handler http.HandlerFunc, refuses error) *rig {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r := atRuntime{[]iri.Machine{labelled("x", "dev", "web", "uid-web")}, func(string) (*url.URL, error) {
		at, _ := url.Parse(server.URL + "/exec/token")
		return at, refuses
	}}
	return start(t, nil, func(s *Server, limits *serve.Limits) {
		s.Pool, s.MaxSessions, s.Backends = "east", 200, nil
		s.Elsewhere = map[Kind]Elsewhere{Machine: AtRuntime(users(), r, Consoles{Pool: "east"}, s.Log)}
		limits.Rate, limits.Burst, limits.Open, limits.OpenPerCaller = 1e6, 1e6, 200, 200
	})
}

// Of 500 sessions of a command that ends with 3, none has another status, however they end behind the gateway: what
// is not known is an error. Nothing of a user's credential gets to the runtime.
func TestManyEndingsAtRuntime(t *testing.T) {
	var n, sure, known atomic.Int32
	all := kubetest.Endings()
	r := behind(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.URL.Path != "/exec/token" {
			t.Errorf("%s is asked for with %v", r.URL, r.Header)
		}
		if r.Header.Get("X-Stream-Protocol-Version") == "" { // as a runtime that does not know version 5
			http.Error(w, "unknown protocol", http.StatusForbidden)
			return
		}
		i := int(n.Add(1)) % len(all)
		if all[i].Sure {
			sure.Add(1)
		}
		r.URL.RawQuery = "stdin=true&stdout=true&tty=true"
		all[i].Serve(w, r, false)
	}, nil)
	ca, token := r.credentials("alice")
	run := gateway.Gateway{Name: "here", URL: r.public.URL, CAFile: ca, Token: token}.
		Runner(gateway.Destination{Namespace: "dev", Machine: "web"})
	var group sync.WaitGroup
	room := make(chan struct{}, 100)
	for range 500 {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			switch status, err := run(t.Context(), nil, machine.Session(exec.Session{
				Stdin: strings.NewReader(""), Stdout: io.Discard,
			})); {
			case err == nil && status == 3:
				known.Add(1)
			case err == nil:
				t.Errorf("a session has ended with %d", status)
			}
		})
	}
	group.Wait()
	if known.Load() == 0 || known.Load() > sure.Load() {
		t.Errorf("%d of %d sessions have their status", known.Load(), sure.Load())
	}
}

// What a runtime refuses has its code, and nothing else of it: no redirect is followed or passed on.
func TestRefusalsOfRuntime(t *testing.T) {
	for name, c := range map[string]struct {
		answers int
		refuses error
		want    int
		after   string
	}{
		"an expired URL":      {answers: 404, want: 404},
		"too many at the URL": {answers: 429, want: 429, after: "7"},
		"another version":     {answers: 403, want: 403},
		"a redirect":          {answers: 307, want: 500},
		"no session":          {answers: 200, want: 500},
		"too many": {
			refuses: fault.New(fault.Unavailable, "words of the runtime").WithReason(iri.ReasonFull),
			want:    429, after: "10",
		},
		"an unknown machine": {refuses: fault.New(fault.NotFound, "words of the runtime"), want: 404},
		"away": {
			refuses: fault.New(fault.Unavailable, "words of the runtime").WithReason(iri.ReasonAway),
			want:    500,
		},
		"anything else": {refuses: fault.New(fault.Internal, "words of the runtime"), want: 500},
	} {
		t.Run(name, func(t *testing.T) {
			r := behind(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.example.com/")
				w.Header().Set("Set-Cookie", "a=b")
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(c.answers)
				_, _ = io.WriteString(w, "words of the runtime")
			}, c.refuses)
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost,
				r.public.URL+machine.PoolletPath("dev", "web"), http.NoBody)
			request.Header = http.Header{
				"Authorization": {"Bearer alice"}, "Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"},
			}
			answer, err := r.public.Client().Transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			said, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != c.want || c.after != "" && answer.Header.Get("Retry-After") != c.after {
				t.Errorf("%s with %v", strconv.Itoa(answer.StatusCode), answer.Header)
			}
			if answer.Header.Get("Location")+answer.Header.Get("Set-Cookie") != "" ||
				strings.Contains(string(said), "words of the runtime") {
				t.Errorf("a user reads %q with %v", said, answer.Header)
			}
		})
	}
}
