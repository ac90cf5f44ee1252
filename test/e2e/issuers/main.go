// Command issuers is what the chart in testdata/charts/issuers runs: a webhook that
// completes issuers and refuses bad ones, a controller that says they are ready, and a
// check that both can be used.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "issuers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch {
	case len(args) == 2 && args[0] == "webhook":
		return answer(ctx, args[1])
	case len(args) == 3 && args[0] == "controller":
		return control(ctx, args[1], args[2])
	case len(args) == 3 && args[0] == "check":
		return check(ctx, args[1], args[2])
	}
	return errors.New("usage: issuers webhook DIR | controller GROUP NAMESPACE | check GROUP NAMESPACE")
}
