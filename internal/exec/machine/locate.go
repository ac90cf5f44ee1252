package machine

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

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

// AddressType is the type of an address of a pool.
type AddressType string

// The types of addresses.
const (
	Hostname    AddressType = "Hostname"
	InternalDNS AddressType = "InternalDNS"
	InternalIP  AddressType = "InternalIP"
	ExternalDNS AddressType = "ExternalDNS"
	ExternalIP  AddressType = "ExternalIP"
)

// AddressTypes are all types, in the order in which they are preferred by default.
func AddressTypes() []AddressType {
	return []AddressType{Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP}
}

// ParseAddressTypes reads which types are preferred; none for the default order.
func ParseAddressTypes(names []string) ([]AddressType, error) {
	if len(names) == 0 {
		return AddressTypes(), nil
	}
	types := make([]AddressType, len(names))
	for i, name := range names {
		types[i] = AddressType(name)
		switch {
		case !slices.Contains(AddressTypes(), types[i]):
			return nil, fault.New(fault.InvalidArgument, "invalid address type %q", name).
				WithHint("use some of %s", list(AddressTypes()))
		case slices.Contains(types[:i], types[i]):
			return nil, fault.New(fault.InvalidArgument, "duplicate address type %q", name).
				WithHint("name each type once")
		}
	}
	return types, nil
}

// preferred is the pool's first address of the first type of which it has one.
func (p Pool) preferred(types []AddressType) (host string, err error) {
	for _, t := range types {
		for _, a := range p.Addresses {
			if a.Type != t {
				continue
			}
			if !isHost(a.Address) {
				return "", fault.New(fault.Unavailable, "machine pool %s has %q as its %s, which is no host", p.Name,
					a.Address, t).
					WithHint("its poollet reports that; ask who runs the pool")
			}
			return a.Address, nil
		}
	}
	if len(p.Addresses) == 0 {
		return "", fault.New(fault.Unavailable, "machine pool %s has no address", p.Name).
			WithHint("its poollet has not reported one; ask who runs the pool")
	}
	var has []AddressType
	for _, a := range p.Addresses {
		has = append(has, a.Type)
	}
	slices.Sort(has)
	return "", fault.New(fault.Unavailable, "machine pool %s has no address of type %s", p.Name, list(types)).
		WithHint("it has %s; prefer another type with --%s", list(slices.Compact(has)), FlagTypes)
}

// isHost is true for an IP address or a name. Anything else could make another URL of the one that it is put into.
func isHost(address string) bool {
	_, err := netip.ParseAddr(address)
	return err == nil && !strings.Contains(address, "%") ||
		len(validation.IsDNS1123Subdomain(strings.ToLower(address))) == 0
}

func list(types []AddressType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}
