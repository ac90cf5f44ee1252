// Command nats is a NATS server with JetStream, for the tests on the cluster:
// there is no registry there that has one. Its arguments are the directory of
// what it keeps and, for TLS, the files of its certificate and key.
package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

func run(dir string, pair []string) error {
	options := &server.Options{
		Host: "0.0.0.0", Port: 4222, JetStream: true, StoreDir: dir, SyncInterval: time.Second,
		Username: "berth", Password: "berth-test",
		NoSigs: true, // a signal ends it at once, as a crash does
	}
	if len(pair) == 2 {
		certificate, err := tls.LoadX509KeyPair(pair[0], pair[1])
		if err != nil {
			return err
		}
		options.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
		options.TLSTimeout = 5
	}
	s, err := server.NewServer(options)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	s.WaitForShutdown()
	return nil
}
