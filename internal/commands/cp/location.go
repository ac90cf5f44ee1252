package cp

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Location is a path, of this machine if it names no workspace.
type Location struct{ Workspace, Path string }

// parseLocation reads an argument. A colon divides the workspace from the path, unless the
// argument begins with / or . or a drive of Windows.
func parseLocation(text string) (Location, error) {
	return parseLocationOn(text, runtime.GOOS == "windows")
}

func parseLocationOn(text string, windows bool) (Location, error) {
	workspace, path, divided := strings.Cut(text, ":")
	switch {
	case text == "":
		return Location{}, fault.New(fault.InvalidArgument, "path is empty")
	case !divided, text[0] == '/', text[0] == '.', text[0] == '\\', isDrive(text, windows):
		return Location{Path: text}, nil
	case workspace == "":
		return Location{}, fault.New(fault.InvalidArgument,
			"%q names no workspace before the colon; write ./%s for a file of that name", text, text)
	case strings.ContainsRune(path, 0):
		return Location{}, fault.New(fault.InvalidArgument, "path %q has a null character", path)
	}
	return Location{Workspace: workspace, Path: fromHome(path)}, nil
}

// fromHome is a path of a workspace without the ~ of the home directory, as scp has it: paths are
// relative to that.
func fromHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' { // ~bob is a name
		return path
	}
	return strings.TrimLeft(rest, "/")
}

// isDrive is true for C:\x, and on Windows for C:/x, which elsewhere is a path of the user c.
func isDrive(text string, windows bool) bool {
	return len(text) > 2 && text[1] == ':' && (text[2] == '\\' || windows && text[2] == '/') &&
		(text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z')
}

// locations reads source and destination, of which one is in a workspace.
func locations(args []string) (from, to Location, err error) {
	if from, err = parseLocation(args[0]); err == nil {
		to, err = parseLocation(args[1])
	}
	const standard = "-"
	switch {
	case err != nil:
		return from, to, err
	case from == (Location{Path: standard}) && to.Workspace != "":
		return from, to, notStandard("standard input",
			fault.Command("berth", "exec", "-i", to.Workspace, "--", "sh", "-c", "cat > "+fault.Word(orFile(to.Path))))
	case to == (Location{Path: standard}) && from.Workspace != "":
		return from, to, notStandard("standard output",
			fault.Command("berth", "exec", from.Workspace, "--", "cat", orFile(from.Path)))
	case from.Workspace != "" && to.Workspace != "":
		return from, to, fault.New(fault.InvalidArgument, "source and destination are both in a workspace").
			WithHint("copy to this machine first; a file of this machine whose name has a colon is written ./%s",
				args[0])
	case from.Workspace == "" && to.Workspace == "":
		return from, to, fault.New(fault.InvalidArgument,
			"neither source nor destination is in a workspace: write USERSTR:PATH")
	}
	return from, to, nil
}

// notStandard is the error about what is no path; the command does what is wanted.
func notStandard(what, command string) error {
	return fault.New(fault.InvalidArgument, "cp takes paths, not %s", what).
		WithHint("use exec: %s; write ./- for a file of that name", command)
}

// orFile is a path for a command to type, also where none was given.
func orFile(path string) string { return cmp.Or(path, "FILE") }

// workspaceOf is the workspace of the first argument that is in one.
func workspaceOf(args []string) string {
	for _, arg := range args {
		if l, err := parseLocation(arg); err == nil && l.Workspace != "" {
			return l.Workspace
		}
	}
	return ""
}
