package machine

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/berthdev/berth/internal/fault"
)

// DefaultPort is the port of a poollet that reports none.
const DefaultPort = 12319

// Reader reads the API of machines. What does not exist is NOT_FOUND.
type Reader interface {
	Machine(ctx context.Context, namespace, name string) (Machine, error)
	Pool(ctx context.Context, name string) (Pool, error)
}

// Locate finds where the poollet of a machine connects to its console.
func Locate(ctx context.Context, r Reader, namespace, name string, types []AddressType) (*url.URL, error) {
	m, err := r.Machine(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	if m.Pool == "" {
		return nil, fault.New(fault.Failed, "machine %s in namespace %s has no machine pool", name, namespace).
			WithHint("it is not scheduled yet: see `kubectl describe machine %s --namespace %s`", name, namespace)
	}
	p, err := r.Pool(ctx, m.Pool)
	if err != nil {
		return nil, err
	}
	return backend(m, p, types)
}

// backend is where the poollet of the pool connects to the console of a machine.
func backend(m Machine, p Pool, types []AddressType) (*url.URL, error) {
	host, err := p.preferred(types)
	if err != nil {
		return nil, err
	}
	port := p.Port
	if port <= 0 {
		port = DefaultPort
	}
	if port > 1<<16-1 {
		return nil, fault.New(fault.Unavailable, "machine pool %s has an invalid port: %d", p.Name, port).
			WithHint("its poollet reports that; ask who runs the pool")
	}
	return &url.URL{
		Scheme: "https", Host: net.JoinHostPort(host, strconv.Itoa(int(port))),
		Path: PoolletPath(m.Namespace, m.Name),
	}, nil
}

// StatusCode is how an API server answers where the console of a machine cannot be found.
func StatusCode(err error) int {
	switch fault.CodeOf(err) {
	case "":
		return http.StatusOK
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Failed, fault.InvalidArgument:
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}
