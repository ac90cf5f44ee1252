package forward

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/berthdev/berth/internal/fault"
)

// Port is a port of this machine, 0 for any, and the one of the pod that it leads to.
type Port struct{ Local, Remote uint16 }

// ParsePort reads REMOTE, LOCAL:REMOTE or :REMOTE.
func ParsePort(text string) (Port, error) {
	local, remote, divided := strings.Cut(text, ":")
	if !divided {
		remote = local
	} else if local == "" {
		local = "0"
	}
	l, err := number(text, local)
	if err != nil {
		return Port{}, err
	}
	r, err := number(text, remote)
	if err == nil && r == 0 {
		err = fault.New(fault.InvalidArgument, "port %q: the port of the workspace must be from 1 to 65535", text)
	}
	return Port{l, r}, err
}

func number(whole, text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, fault.New(fault.InvalidArgument, "port %q: %q is not a number up to 65535; write [LOCAL:]REMOTE",
			whole, text)
	}
	return uint16(n), nil
}

// ParsePorts reads several. A port of this machine can lead to one place only.
func ParsePorts(texts []string) ([]Port, error) {
	ports, taken := make([]Port, 0, len(texts)), map[uint16]bool{}
	for _, text := range texts {
		port, err := ParsePort(text)
		if err != nil {
			return nil, err
		}
		if port.Local != 0 && taken[port.Local] {
			return nil, fault.New(fault.InvalidArgument, "local port %d is given twice", port.Local)
		}
		taken[port.Local] = true
		ports = append(ports, port)
	}
	return ports, nil
}

// localhost means both loopback addresses, of which one may be missing.
const localhost = "localhost"

// listener is one port of one address.
type listener struct {
	net.Listener
	remote uint16
}

// local is the port that was given or picked.
func (l listener) local() uint16 {
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return address.AddrPort().Port()
}

// listen opens all ports on all addresses, or none.
func listen(ctx context.Context, addresses []string, ports []Port) (all []listener, err error) {
	for _, port := range ports {
		for _, address := range addresses {
			more, err := listenOn(ctx, address, port)
			all = append(all, more...)
			if err != nil {
				closeAll(all)
				return nil, err
			}
			if len(more) > 0 {
				port.Local = more[0].local() // the one that was picked, on all addresses
			}
		}
	}
	return all, nil
}

func listenOn(ctx context.Context, address string, port Port) (all []listener, err error) {
	if address != localhost {
		l, err := listenAt(ctx, address, port)
		if err != nil {
			return nil, err
		}
		return []listener{l}, nil
	}
	var first error
	for _, loopback := range []string{"127.0.0.1", "::1"} {
		l, err := listenAt(ctx, loopback, port)
		if fault.IsAddressInUse(err) {
			closeAll(all)
			return nil, err
		}
		if err != nil {
			first = err
			continue
		}
		port.Local = l.local()
		all = append(all, l)
	}
	if len(all) == 0 {
		return nil, first
	}
	return all, nil
}

func listenAt(ctx context.Context, address string, port Port) (listener, error) {
	var config net.ListenConfig
	at := net.JoinHostPort(address, strconv.Itoa(int(port.Local)))
	l, err := config.Listen(ctx, "tcp", at)
	switch {
	case fault.IsAddressInUse(err):
		return listener{}, fault.New(fault.Failed, "port %d of %s is in use: %w", port.Local, address, err).
			WithHint("choose another one, or leave the choice to berth: :%d", port.Remote)
	case errors.Is(err, syscall.EACCES):
		return listener{}, fault.New(fault.Failed, "you may not listen at %s: %w", at, err).
			WithHint("choose a port above 1023")
	case err != nil:
		return listener{}, fault.New(fault.Failed, "cannot listen at %s: %w", at, err).WithHint("check --address")
	}
	return listener{l, port.Remote}, nil
}

func closeAll(all []listener) {
	for _, l := range all {
		l.Close()
	}
}
