// Package images builds the container images of the test cluster on the spot,
// from the machine's static busybox, and one of them from its git.
//
// They come out the same every time, bit for bit: a registry that starts again
// serves the very images that were pulled from it before.
package images

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Busybox is where Debian's busybox-static puts its program.
const Busybox = "/bin/busybox"

// Dev is the ordinary user that every userland has, beside root.
const Dev = 1000

const passwd = `root:x:0:0:root:/root:/bin/sh
dev:x:1000:1000:dev:/home/dev:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/false
`

const group = `root:x:0:
dev:x:1000:
nogroup:x:65534:
`

// userland is a layer with a small Linux in it: every tool of busybox, two
// users, and the usual directories.
func userland() (v1.Layer, error) {
	busybox, err := os.ReadFile(Busybox)
	if err != nil {
		return nil, fmt.Errorf("read the userland's program (Debian package busybox-static): %w", err)
	}
	tools, err := exec.Command(Busybox, "--list-full").Output()
	if err != nil {
		return nil, fmt.Errorf("list busybox's tools: %w", err)
	}
	var entries []entry
	for _, name := range []string{
		"bin", "dev", "etc", "home", "proc", "root", "run", "sbin", "sys", "usr", "usr/bin",
		"usr/sbin", "var", "var/log",
	} {
		entries = append(entries, directory(name, 0o755, 0))
	}
	entries = append(entries,
		directory("tmp", 0o1777, 0),
		directory("home/dev", 0o755, Dev),
		file("bin/busybox", 0o755, busybox),
		file("etc/passwd", 0o644, []byte(passwd)),
		file("etc/group", 0o644, []byte(group)),
	)
	for name := range strings.FieldsSeq(string(tools)) {
		if name != "bin/busybox" && !strings.HasPrefix(name, "lib") && name != "linuxrc" {
			entries = append(entries, link(name, Busybox))
		}
	}
	return layer(entries)
}
