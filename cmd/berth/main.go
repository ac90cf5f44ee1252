// Command berth gets a developer a ready workspace on Kubernetes.
package main

import (
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/terminal"
)

func main() {
	kustomize.Worker(os.Exit)
	klog.SetLogger(logr.Discard()) // the libraries' own log would be written into what is drawn
	os.Exit(commands.Main(os.Args[1:], terminal.System(), os.Exit))
}
