// Package iri speaks the machine runtime interface of ironcore, as a client: it finds machines at a runtime, and asks
// for URLs of their consoles.
package iri

import (
	"context"
	"net/url"
	"path"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/berthdev/berth/internal/fault"
)

// The labels with which a poollet says which machine it has made one for.
const (
	LabelNamespace = "machinepoollet.ironcore.dev/machine-namespace"
	LabelName      = "machinepoollet.ironcore.dev/machine-name"
	LabelUID       = "machinepoollet.ironcore.dev/machine-uid"
)

// service is what the methods are below.
const service = "/machine.v1alpha1.MachineRuntime/"

// callTimeout is how long a runtime may take for a call.
const callTimeout = 10 * time.Second

// The reasons of errors: a runtime has too many sessions, or it cannot be connected to.
const (
	ReasonFull = "RUNTIME_FULL"
	ReasonAway = "RUNTIME_AWAY"
)

// Machine is one at a runtime.
type Machine struct {
	ID     string
	Labels map[string]string
}

// Client talks to a runtime.
type Client struct {
	conn    *grpc.ClientConn
	timeout time.Duration
}

// Socket is the file of an endpoint, which is unix:///PATH.
func Socket(endpoint string) (string, error) {
	file, is := strings.CutPrefix(endpoint, "unix://")
	// It is a file of the gateway's host, wherever its manifests are printed.
	if !is || !path.IsAbs(file) || strings.ContainsAny(file, "?#%") || path.Clean(file) != file || file == "/" {
		return "", fault.New(fault.InvalidArgument, "must be unix:///PATH of a socket, got %q", endpoint)
	}
	return file, nil
}

// New makes a client of the runtime at a socket. It connects when it is first asked for something.
func New(socket string) (*Client, error) {
	// By itself gRPC would leave a runtime that was away for long alone for up to two minutes after it is back.
	again := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: callTimeout}),
		grpc.WithDisableServiceConfig(), grpc.WithNoProxy(), grpc.WithAuthority("localhost"),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the socket %s of the machine runtime: %w", socket, err)
	}
	return &Client{conn: conn, timeout: callTimeout}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Ready is an error while the runtime cannot be connected to.
func (c *Client) Ready(ctx context.Context) error {
	for c.conn.Connect(); ; {
		state := c.conn.GetState()
		switch state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return fault.New(fault.Unavailable, "the machine runtime cannot be connected to")
		case connectivity.Idle:
			c.conn.Connect()
		}
		if !c.conn.WaitForStateChange(ctx, state) {
			return fault.New(fault.Unavailable, "the machine runtime does not answer")
		}
	}
}

// Labelled are the machines with labels.
func (c *Client) Labelled(ctx context.Context, labels map[string]string) ([]Machine, error) {
	return c.list(ctx, filter{labels: labels})
}

// ByID are the machines with an ID: one, or none.
func (c *Client) ByID(ctx context.Context, id string) ([]Machine, error) {
	return c.list(ctx, filter{id: id})
}

func (c *Client) list(ctx context.Context, f filter) ([]Machine, error) {
	var answer machines
	err := c.call(ctx, "ListMachines", f, &answer)
	return answer, err
}

// Exec is where the console of a machine is, which works once. A machine that the runtime does not have is NOT_FOUND.
func (c *Client) Exec(ctx context.Context, id string) (*url.URL, error) {
	var answer address
	if err := c.call(ctx, "Exec", execRequest(id), &answer); err != nil {
		return nil, err
	}
	at, err := url.Parse(string(answer))
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil {
		// It stands for a session: it is not repeated.
		return nil, fault.New(fault.Internal, "the machine runtime has answered Exec with what is no URL of HTTP")
	}
	at.Fragment, at.RawFragment = "", ""
	return at, nil
}

func (c *Client) call(ctx context.Context, method string, request, answer any) error {
	within, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err := c.conn.Invoke(within, service+method, request, answer)
	switch code := status.Code(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case code == codes.NotFound:
		return fault.New(fault.NotFound, "%s of the machine runtime: %w", method, err)
	case code == codes.ResourceExhausted:
		return fault.New(fault.Unavailable, "%s of the machine runtime: %w", method, err).WithReason(ReasonFull)
	case code == codes.Unavailable:
		return fault.New(fault.Unavailable, "%s of the machine runtime: %w", method, err).WithReason(ReasonAway)
	default:
		return fault.New(fault.Internal, "%s of the machine runtime: %w", method, err)
	}
}
