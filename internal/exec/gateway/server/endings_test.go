package server

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	clientexec "k8s.io/client-go/util/exec"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/serve"
)

// ending is an API server whose sessions end in all ways, one after the other, over SPDY in every other round; it has
// a workspace and a machine.
func ending(t *testing.T) (backends map[Kind]Backend, sure *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	sure = &atomic.Int32{}
	all := kubetest.Endings()
	client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		webSockets := !strings.Contains(r.URL.Path, "machines")
		switch {
		case strings.HasSuffix(r.URL.Path, "/exec"):
			if webSockets == (r.Header.Get("X-Stream-Protocol-Version") == "") {
				i := int(n.Add(1))
				if all[i%len(all)].Sure {
					sure.Add(1)
				}
				all[i%len(all)].Serve(w, r, webSockets)
				return
			}
			http.Error(w, "unable to upgrade: only SPDY is known here", http.StatusBadRequest)
		case strings.HasSuffix(r.URL.Path, "/pods"):
			w.Header().Set("Content-Type", "application/json")
			pod := running("alice", false, true, 0, "k8shell-main")
			pod.Namespace = "dev"
			_ = json.NewEncoder(w).Encode(corev1.PodList{Items: []corev1.Pod{pod}})
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, there("web"))
		}
	}))
	log := slog.New(slog.DiscardHandler)
	return map[Kind]Backend{
		Workspace: Pods(client, log), Machine: Machines(users(), client, Consoles{Pool: "east", There: "broker"}, log),
	}, sure
}

// Of 500 sessions through a gateway with workspaces and as many with machines, none has another status than that of its
// command, however they end behind it.
func TestManyEndings(t *testing.T) {
	backends, sure := ending(t)
	r := start(t, nil, func(s *Server, limits *serve.Limits) {
		s.Backends, s.Pool, s.MaxSessions = backends, "east", 200
		limits.Rate, limits.Burst, limits.Open, limits.OpenPerCaller = 1e6, 1e6, 200, 200
	})
	ca, token := r.credentials("alice")
	for kind, to := range map[Kind]gateway.Destination{
		Workspace: {Namespace: "dev", Workspace: "alice"}, Machine: {Namespace: "dev", Machine: "web"},
	} {
		run := gateway.Gateway{Name: "here", URL: r.public.URL, CAFile: ca, Token: token}.Runner(to)
		var group sync.WaitGroup
		var known atomic.Int32
		room := make(chan struct{}, 100)
		sure.Store(0)
		for range 500 {
			room <- struct{}{}
			group.Go(func() {
				defer func() { <-room }()
				s := exec.Session{Stdin: strings.NewReader(""), Stdout: io.Discard}
				if kind == Machine {
					s = machine.Session(s)
				}
				switch status, err := run(t.Context(), []string{"exit", "3"}, s); {
				case err == nil && status == 3:
					known.Add(1)
				case err == nil:
					t.Errorf("%s: %d", kind, status)
				case fault.CodeOf(err) != fault.Unavailable && !strings.Contains(err.Error(), "cannot be"):
					t.Errorf("%s: %s %v", kind, fault.CodeOf(err), err)
				}
			})
		}
		group.Wait()
		if known.Load() != sure.Load() || sure.Load() < 90 {
			t.Errorf("%s: %d of %d sessions have their status", kind, known.Load(), sure.Load())
		}
	}
}

// Older clients of the gateway, over SPDY, are told as well.
func TestEndingsOverSPDY(t *testing.T) {
	backends, sure := ending(t)
	r := start(t, nil, func(s *Server, limits *serve.Limits) {
		s.Backends = backends
		limits.Rate, limits.Burst = 1e6, 1e6
	})
	at, _ := url.Parse(r.public.URL + gateway.WorkspacePath("dev", "alice"))
	at.RawQuery = gateway.Query(gateway.Destination{}, []string{"exit", "3"}, exec.Session{Stdout: io.Discard}).Encode()
	spdy, err := remotecommand.NewSPDYExecutor(&rest.Config{
		BearerToken:     "alice",
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}, "POST", at)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{}
	for range 5 * len(kubetest.Endings()) {
		err := spdy.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: io.Discard})
		exit, is := err.(clientexec.CodeExitError) //nolint:errorlint // client-go returns it as it is
		switch {
		case is:
			ends[strconv.Itoa(exit.Code)]++
		case err == nil:
			t.Error("a session has succeeded")
		default:
			code, _, _ := strings.Cut(err.Error(), ":")
			ends[code]++
		}
	}
	if ends["3"] != int(sure.Load()) || ends[string(fault.Unavailable)+"/"+exec.ReasonUnsure] == 0 {
		t.Error(fmt.Sprint(ends))
	}
}
