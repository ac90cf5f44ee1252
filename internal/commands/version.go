package commands

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/printer"
)

func newVersion(a *app) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              none,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			info := buildInfo()
			return printer.Print(a.streams, output.format, &info)
		},
	}
	output.register(cmd, "text", "json", "yaml", "jsonpath=", "go-template=")
	return cmd
}

// buildInfo is what the Go toolchain recorded in the binary.
func buildInfo() v1.Version {
	v := v1.Version{
		TypeMeta: v1.Kind(v1.KindVersion), Version: "(devel)",
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		}
	}
	return v
}
