package sshconfig

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

const (
	// head is the first line of the file that is wholly berth's, by which it is known.
	head = "# Written by `berth ssh config`, which replaces what is changed here by hand.\n"
	// marker begins each block, before its name.
	marker = "# berth ssh config --name "
)

// SetBlock puts a block into berth's own file, in the place of the one of its name. Those with a name come first, as
// their host names match the pattern of the one without.
func SetBlock(old []byte, b Block) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return edit(old, b.Name, b.text())
}

// RemoveBlock takes a block out of berth's own file. What is left is empty if it was the last one.
func RemoveBlock(old []byte, name string) ([]byte, error) { return edit(old, name, "") }

// Names are the names of the blocks in berth's own file.
func Names(text []byte) []string {
	blocks, _ := parseBlocks(text) // one of somebody else has none
	return slices.Sorted(maps.Keys(blocks))
}

// edit replaces the text of a block; without one, the block is left out.
func edit(old []byte, name, text string) ([]byte, error) {
	blocks, err := parseBlocks(old)
	if err != nil {
		return nil, err
	}
	delete(blocks, name)
	if text != "" {
		blocks[name] = text
	}
	return join(blocks), nil
}

// join is the file with these blocks; nil without any.
func join(blocks map[string]string) []byte {
	if len(blocks) == 0 {
		return nil
	}
	var out strings.Builder
	out.WriteString(head)
	names := slices.Sorted(maps.Keys(blocks))
	if names[0] == "" {
		names = append(names[1:], "")
	}
	for _, name := range names {
		out.WriteString("\n" + marker + `"` + name + "\"\n" + blocks[name])
	}
	return []byte(out.String())
}

// parseBlocks reads berth's own file: the text of each block, by its name. A file of somebody else is an error.
func parseBlocks(text []byte) (map[string]string, error) {
	blocks := map[string]string{}
	if len(bytes.TrimSpace(text)) == 0 {
		return blocks, nil
	}
	rest, ours := strings.CutPrefix(strings.ReplaceAll(string(text), "\r\n", "\n"), head)
	if !ours {
		return nil, fault.New(fault.Conflict, "the file was not written by `berth ssh config`").
			WithHint("move it away, or include it from another file, and try again")
	}
	for i, part := range strings.Split(rest, "\n"+marker) {
		name, block, ok := strings.Cut(part, "\n")
		if i == 0 || !ok {
			continue // nothing is before the first one
		}
		blocks[strings.Trim(name, `"`)] = strings.TrimRight(block, "\n") + "\n"
	}
	return blocks, nil
}

// Include makes OpenSSH's own file read another one, in its first line: behind a Host or a Match it would count for
// these hosts alone. A file that does so already stays as it is.
func Include(old []byte, path string) []byte {
	if included(old, path) {
		return old
	}
	line := includeLine(path) + "\n"
	if bytes.Contains(old, []byte("\r\n")) {
		line = includeLine(path) + "\r\n"
	}
	bom := []byte("\ufeff")
	if rest, ok := bytes.CutPrefix(old, bom); ok {
		return slices.Concat(bom, []byte(line), rest)
	}
	return append([]byte(line), old...)
}

// Exclude takes out the lines that Include has put in.
func Exclude(old []byte, path string) []byte {
	var out []byte
	for line := range bytes.Lines(old) {
		text := strings.TrimPrefix(string(bytes.TrimRight(line, "\r\n")), "\ufeff")
		if text == includeLine(path) {
			if bytes.HasPrefix(line, []byte("\ufeff")) {
				out = append(out, "\ufeff"...)
			}
			continue
		}
		out = append(out, line...)
	}
	return out
}

func includeLine(path string) string { return "Include " + quotePath(path) }

// included says whether a file is read unconditionally.
func included(text []byte, path string) bool {
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "\ufeff"))
		if len(words) == 0 {
			continue
		}
		switch keyword := strings.ToLower(words[0]); keyword {
		case "host", "match":
			return false
		case "include":
			if strings.Join(words, " ") == includeLine(path) || slices.Contains(words[1:], path) {
				return true
			}
		}
	}
	return false
}
