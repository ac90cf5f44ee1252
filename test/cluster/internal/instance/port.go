package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
)

// listen opens the loopback address that the API server is reached at from
// outside: the one of last time, or else any that is free.
func (i *Instance) listen() (*net.TCPListener, error) {
	address, err := i.address()
	if errors.Is(err, fs.ErrNotExist) {
		address = "127.0.0.1:0"
	} else if err != nil {
		return nil, err
	}
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the address of last time: %w", err)
	}
	listener, err := net.ListenTCP("tcp", at)
	if err != nil { // taken by another program in the meantime
		at.Port = 0
		listener, err = net.ListenTCP("tcp", at)
	}
	if err != nil {
		return nil, fmt.Errorf("open a port on the loopback interface: %w", err)
	}
	chosen := listener.Addr().String()
	return listener, os.WriteFile(i.path("address"), []byte(chosen+"\n"), 0o644)
}

func (i *Instance) address() (string, error) {
	data, err := os.ReadFile(i.path("address"))
	return strings.TrimSpace(string(data)), err
}
