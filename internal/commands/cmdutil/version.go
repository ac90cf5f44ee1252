package cmdutil

import (
	"runtime"
	"runtime/debug"

	v1 "github.com/berthdev/berth/api/v1"
)

// Version is what the Go toolchain has recorded in the binary.
func Version() v1.Version {
	v := v1.Version{
		Version:   "(devel)",
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
