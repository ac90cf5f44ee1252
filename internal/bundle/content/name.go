package content

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a name are those of file systems, on which it may be unpacked.
const (
	maxName = 1024 // bytes of a path
	maxPart = 255  // bytes between two slashes
)

// cleanName gives the name of an entry as content has it: relative, with slashes, and
// without "." and empty parts. Of "./" and the like nothing is left but ".".
func cleanName(name string) (string, error) {
	switch {
	case !utf8.ValidString(name):
		return "", Refuse(name, "a name has to be UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", Refuse(name, "a name cannot have control characters")
	case strings.Contains(name, `\`):
		return "", Refuse(name, "a name cannot have a backslash, which separates directories on some systems")
	case strings.HasPrefix(name, "/"):
		return "", Refuse(name, "an absolute path")
	case name == "":
		return "", Refuse(name, "a name cannot be empty")
	}
	clean := path.Clean(name)
	if len(clean) > maxName {
		return "", Refuse(name, "a path cannot be longer than %d bytes", maxName)
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return "", Refuse(name, `a path cannot have ".."`)
		case len(part) > maxPart:
			return "", Refuse(name, "a name cannot be longer than %d bytes", maxPart)
		}
	}
	return clean, nil
}
