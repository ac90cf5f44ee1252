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

// target is an API server that has machines: each name is known for what becomes of it. All
// are asked for in the namespace broker, with the gateway's token.
func target(t *testing.T) *kube.Client {
	t.Helper()
	mux := http.NewServeMux()
	get := strings.TrimSuffix(machine.Path("broker", "NAME"), "/exec")
	mux.HandleFunc("GET "+strings.Replace(get, "NAME", "{name}", 1), func(w http.ResponseWriter, r *http.Request) {
		codes := map[string]int{
			"lost": http.StatusNotFound, "closed": http.StatusForbidden,
			"broken": http.StatusNotImplemented,
		}
		if code := codes[r.PathValue("name")]; code != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(metav1.Status{
				Status: metav1.StatusFailure, Code: int32(code),
				Message: "words of the target",
			}) //nolint:gosec // a status of HTTP
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion":"compute.ironcore.dev/v1alpha1","kind":"Machine","metadata":{"name":"web"}}`)
	})
	mux.HandleFunc(strings.Replace(machine.Path("broker", "NAME"), "NAME", "{name}", 1),
		func(w http.ResponseWriter, r *http.Request) {
			switch r.PathValue("name") {
			case "elsewhere":
				http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusTemporaryRedirect)
				return
			case "taken":
				http.Error(w, "words of the target", http.StatusConflict)
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-gateway" {
			t.Errorf("%s is asked for with %v", r.URL, r.Header)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, BearerToken: "of-the-gateway"}
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

// A console is that of the machine of the same name in the namespace of the target. What the
// target says is for the log alone, and so are its address and whom it redirects to.
func TestMachines(t *testing.T) {
	client := target(t)
	for name, c := range map[string]struct {
		code fault.Code
		says string
	}{
		"web":       {},
		"lost":      {fault.NotFound, "machine lost not found in namespace dev"},
		"closed":    {fault.Internal, "the console of machine closed cannot be reached"},
		"broken":    {fault.Internal, "the console of machine broken cannot be reached"},
		"taken":     {fault.Internal, "the console of machine taken cannot be reached"},
		"elsewhere": {fault.Internal, "the console of machine elsewhere cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			var log, out bytes.Buffer
			find := Machines(client, Consoles{Namespace: "dev", There: "broker"}, slog.New(slog.NewJSONHandler(&log, nil)))
			run, err := find(t.Context(), Object{Kind: Machine, Namespace: "dev", Name: name}, Options{})
			if err == nil {
				_, err = run(t.Context(), nil, machine.Session(exec.Session{Stdin: strings.NewReader("typed"), Stdout: &out}))
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
			if name != "lost" && !strings.Contains(log.String(), `"machine":"`+name+`"`) {
				t.Errorf("the log says %q", &log)
			}
		})
	}
}

// A user who has left is nothing to write down.
func TestMachineOfAUserWhoHasLeft(t *testing.T) {
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Machines(target(t), Consoles{Namespace: "dev", There: "broker"},
		slog.New(slog.NewJSONHandler(&log, nil)))(ctx, Object{Namespace: "dev", Name: "web"}, Options{})
	if err == nil || log.Len() > 0 {
		t.Errorf("%v; the log says %s", err, &log)
	}
}
