package result

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Version is the version of the binary.
type Version struct{ v1.Version }

// Text is one line.
func (v Version) Text(p style.Page) ([]string, error) {
	line := "berth " + v.Version.Version
	if v.Commit != "" {
		line += style.Paint(p.Grey, " ("+v.Commit+")")
	}
	return []string{line + style.Paint(p.Grey, " "+v.Platform+" "+v.GoVersion)}, nil
}
