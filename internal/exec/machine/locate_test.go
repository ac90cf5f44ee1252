package machine

import (
	"context"
	"net/http"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// world is an API of machines.
type world struct {
	machines []Machine
	pools    []Pool
}

func (w world) Machine(_ context.Context, namespace, name string) (Machine, error) {
	for _, m := range w.machines {
		if m.Namespace == namespace && m.Name == name {
			return m, nil
		}
	}
	return Machine{}, fault.New(fault.NotFound, "no machine")
}

func (w world) Pool(_ context.Context, name string) (Pool, error) {
	for _, p := range w.pools {
		if p.Name == name {
			return p, nil
		}
	}
	return Pool{}, fault.New(fault.NotFound, "no pool")
}

func TestLocate(t *testing.T) {
	at := func(port int32, addresses ...Address) []Pool { return []Pool{{"east", addresses, port}} }
	name, other := Address{Hostname, "node-1"}, Address{Hostname, "node-2"}
	inner, outer, six := Address{InternalIP, "10.0.0.1"}, Address{ExternalIP, "192.0.2.1"},
		Address{InternalIP, "fd00::1"}
	const path = "/apis/compute.ironcore.dev/namespaces/ns/machines/web/exec"
	scheduled := Machine{Namespace: "ns", Name: "web", Pool: "east"}
	for _, c := range []struct {
		name    string
		machine Machine
		pools   []Pool
		types   []AddressType
		want    string
		code    fault.Code
		status  int
	}{
		{
			name: "the default order", machine: scheduled, pools: at(7000, outer, inner, name),
			want: "https://node-1:7000" +
				path,
		},
		{
			name: "types before addresses", machine: scheduled, pools: at(7000, inner, outer),
			types: []AddressType{ExternalIP, InternalIP}, want: "https://192.0.2.1:7000" + path,
		},
		{name: "the first of a type", machine: scheduled, pools: at(7000, other, name), want: "https://node-2:7000" +
			path},
		{
			name: "a type that is not there is skipped", machine: scheduled, pools: at(7000, outer),
			types: []AddressType{Hostname, ExternalIP}, want: "https://192.0.2.1:7000" + path,
		},
		{name: "the default port", machine: scheduled, pools: at(0, inner), want: "https://10.0.0.1:12319" + path},
		{name: "a port below none", machine: scheduled, pools: at(-1, inner), want: "https://10.0.0.1:12319" + path},
		{name: "brackets", machine: scheduled, pools: at(7000, six), want: "https://[fd00::1]:7000" + path},
		{
			name: "no such machine", machine: Machine{Namespace: "other", Name: "web", Pool: "east"},
			pools:  at(7000, name),
			code:   fault.NotFound,
			status: http.StatusNotFound,
		},
		{
			name: "no pool yet", machine: Machine{Namespace: "ns", Name: "web"}, pools: at(7000, name),
			code:   fault.Failed,
			status: http.StatusBadRequest,
		},
		{
			name: "no such pool", machine: Machine{Namespace: "ns", Name: "web", Pool: "west"},
			pools: at(7000, name), code: fault.NotFound,
			status: http.StatusNotFound,
		},
		{
			name: "no address", machine: scheduled, pools: at(7000), code: fault.Unavailable,
			status: http.StatusInternalServerError,
		},
		{
			name: "no address of a type", machine: scheduled, pools: at(7000, outer), types: []AddressType{InternalIP},
			code: fault.Unavailable, status: http.StatusInternalServerError,
		},
		{
			name: "an address that is another URL", machine: scheduled,
			pools: at(7000, Address{Hostname, "evil.example.com/x?"}), code: fault.Unavailable,
			status: http.StatusInternalServerError,
		},
		{
			name: "an address with a user", machine: scheduled,
			pools: at(7000, Address{Hostname, "node@evil.example.com"}),
			code:  fault.Unavailable, status: http.StatusInternalServerError,
		},
		{
			name: "an empty address", machine: scheduled, pools: at(7000, Address{Hostname, ""}),
			code:   fault.Unavailable,
			status: http.StatusInternalServerError,
		},
		{
			name: "a port above all", machine: scheduled, pools: at(70000, name), code: fault.Unavailable,
			status: http.StatusInternalServerError,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			types, err := ParseAddressTypes(nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.types != nil {
				types = c.types
			}
			got, err := Locate(t.Context(), world{[]Machine{c.machine}, c.pools}, "ns", "web", types)
			switch {
			case fault.CodeOf(err) != c.code || err != nil && StatusCode(err) != c.status:
				t.Errorf("%v, with code %s and status %d; want %s and %d", err, fault.CodeOf(err), StatusCode(err),
					c.code, c.status)
			case err == nil && got.String() != c.want:
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
