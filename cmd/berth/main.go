// Command berth gets a developer a ready workspace on Kubernetes.
package main

import (
	"os"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/terminal"
)

func main() {
	os.Exit(commands.Main(os.Args[1:], terminal.System(), os.Exit))
}
