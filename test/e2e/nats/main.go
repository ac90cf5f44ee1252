// Command nats is a NATS server with JetStream, for the tests on the cluster:
// there is no registry there that has one. Its argument is the directory of
// what it keeps.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	s, err := server.NewServer(&server.Options{
		Host: "0.0.0.0", Port: 4222, JetStream: true, StoreDir: dir, SyncInterval: time.Second,
		Username: "berth", Password: "berth-test",
	})
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	s.WaitForShutdown()
	return nil
}
