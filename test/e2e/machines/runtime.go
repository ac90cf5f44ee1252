package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// runtime is a machine runtime: its machines are objects, and the console of each is a shell of its own.
type runtime struct {
	cluster
	base string // of the URLs that it hands out

	mu      sync.Mutex
	waiting map[string]waiting // by token
}

// waiting is a console that somebody may connect to once.
type waiting struct {
	machine *unstructured.Unstructured
	until   time.Time
}

// validity is how long a URL works, and mostWaiting how many there are.
const (
	validity    = time.Minute
	mostWaiting = 1000
)

// serveRuntime answers at a socket, and at a port of this pod behind the URLs.
func (c cluster) serveRuntime(socket, port string) error {
	base := "http://" + net.JoinHostPort(os.Getenv("ADDRESS"), port)
	r := &runtime{cluster: c, base: base, waiting: map[string]waiting{}}
	server := grpc.NewServer()
	if err := r.register(server); err != nil {
		return err
	}
	// The socket of a runtime that was killed is still there.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	if err := os.Chmod(socket, 0o666); err != nil { // for the gateway, which is no root
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(listener) }()
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{token}", r.connect)
	urls := &http.Server{Addr: ":" + port, Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { ended <- urls.ListenAndServe() }()
	return <-ended
}

// listMachines finds machines by their ID, their labels, or both.
func (r *runtime) listMachines(ctx context.Context, request listMachinesRequest) (listMachinesResponse, error) {
	answer := listMachinesResponse{Machines: []runtimeMachine{}}
	objects, err := r.objects(ctx, kindMachine, "")
	if err != nil {
		return answer, status.Error(codes.Internal, err.Error())
	}
	for _, object := range objects {
		o := &unstructured.Unstructured{Object: object}
		is := request.Filter.ID == "" || request.Filter.ID == o.GetName()
		for label, value := range request.Filter.LabelSelector {
			is = is && o.GetLabels()[label] == value
		}
		if is {
			answer.Machines = append(answer.Machines, runtimeMachine{metadata{o.GetName(), o.GetLabels()}})
		}
	}
	return answer, nil
}

// exec gives a URL of a console. What is known for its errors has them.
func (r *runtime) exec(ctx context.Context, request execRequest) (answer execResponse, err error) {
	o, err := r.object(ctx, kindMachine, "", request.MachineID)
	if err != nil {
		return answer, status.Error(codes.NotFound, err.Error())
	}
	until := time.Now().Add(validity)
	switch consoleOf(o) {
	case "expired":
		until = time.Time{}
	case "full":
		return answer, status.Error(codes.ResourceExhausted, "too many consoles of this machine are open")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for token, w := range r.waiting {
		if time.Now().After(w.until) {
			delete(r.waiting, token)
		}
	}
	if len(r.waiting) >= mostWaiting {
		return answer, status.Error(codes.ResourceExhausted, "too many URLs wait to be connected to")
	}
	token := rand.Text() // 130 bits
	r.waiting[token] = waiting{o, until}
	return execResponse{r.base + "/exec/" + token}, nil
}

// consoleOf is of which kind the console of a machine is.
func consoleOf(machine *unstructured.Unstructured) string {
	kind, _, _ := unstructured.NestedString(machine.Object, "spec", "console")
	return kind
}

// take gives the machine of a token, which works once.
func (r *runtime) take(token string) (*unstructured.Unstructured, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, is := r.waiting[token]
	delete(r.waiting, token)
	return w.machine, is && time.Now().Before(w.until)
}

// connect lets whoever has a URL type into a shell, until either ends.
func (r *runtime) connect(w http.ResponseWriter, request *http.Request) {
	machine, is := r.take(request.PathValue("token"))
	if !is {
		http.NotFound(w, request)
		return
	}
	for name := range request.Header { // a URL is all that there is to know
		if name == "Authorization" || name == "Cookie" {
			http.Error(w, "credentials were sent", http.StatusInternalServerError)
			return
		}
	}
	streams, err := accept(w, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("console of", machine.GetName(), "over", streams.protocol)
	streams.shell(consoleOf(machine) != "quiet")
}
