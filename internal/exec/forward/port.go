package forward

import (
	"strconv"
	"strings"

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
		return 0, fault.New(fault.InvalidArgument, "port %q: %q is not a number up to 65535; write [LOCAL:]REMOTE", whole,
			text)
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
