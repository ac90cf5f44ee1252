package storetest

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// NATS starts a server that keeps what it has in dir, on any port if that is -1.
func NATS(t *testing.T, dir string, port int, change func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true}
	if change != nil {
		change(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// Port is where a server listens.
func Port(t *testing.T, s *server.Server) int {
	t.Helper()
	address, ok := s.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("the server listens on %v", s.Addr())
	}
	return address.Port
}
