// Command kubernetes is every Kubernetes program of the test cluster, and
// etcd, in one binary. The name it is called by says which one it is: they
// share most of their code, so one binary takes a fraction of the time to link
// and of the space on disk.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the API clients
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	os.Exit(run(os.Args))
}

func run(args []string) int {
	programs := map[string]func() int{
		"etcd":                    func() int { etcdmain.Main(args); return 0 },
		"kube-apiserver":          command(apiserver.NewAPIServerCommand),
		"kube-controller-manager": command(controllers.NewControllerManagerCommand),
		"kube-scheduler":          command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kube-proxy":              command(proxy.NewProxyCommand),
		"kubelet": command(func() *cobra.Command {
			return kubelet.NewKubeletCommand(context.Background())
		}),
		"kubectl": command(kubectl.NewDefaultKubectlCommand),
	}
	program, ok := programs[filepath.Base(args[0])]
	if !ok {
		names := slices.Sorted(maps.Keys(programs))
		fmt.Fprintf(os.Stderr, "kubernetes: link this binary as one of %s and call it by that name\n",
			strings.Join(names, ", "))
		return 2
	}
	return program()
}

// command defers making a command until it is known to be the one wanted.
func command(make func() *cobra.Command) func() int {
	return func() int { return cli.Run(make()) }
}
