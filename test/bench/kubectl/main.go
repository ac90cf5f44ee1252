// Command kubectl is kubectl and nothing else, as it is released: the one of
// the test cluster is a binary with every Kubernetes program in it, which
// starts far slower than the kubectl that people have.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
}
