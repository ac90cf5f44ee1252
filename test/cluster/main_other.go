//go:build !linux

// Command cluster runs a real single-node Kubernetes cluster, which takes
// Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "cluster: the test cluster runs on Linux only; use any cluster that your kubeconfig "+
		"points at instead: make demo CLUSTER=current")
	os.Exit(1)
}
