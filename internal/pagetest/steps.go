// Package pagetest is for tests of the documentation: it reads what a page tells
// its readers to do, and what it says they will see.
package pagetest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Step is one thing that the reader of a page does: write a file, or type a
// command.
type Step struct {
	Line int // of the page

	File, Text string // a file and what is written to it

	Who     string // before the prompt
	Command string
	Shows   string // what the command prints; empty if the page does not say
}

var (
	fileName = regexp.MustCompile(`^# ([\w./-]+\.(?:yaml|sh))\n`)
	saved    = regexp.MustCompile("Save \\[[^\\]]*\\]\\(([^)#]+)#([^)]+)\\) as `([^`]+)`")
	prompt   = regexp.MustCompile(`^([a-z]+)\$ (.*)$`)
)

// Steps are the steps of a page, in their order:
//
//   - a yaml or sh block whose first line is a comment with a name is a file;
//   - "Save [a section](PAGE#ANCHOR) as `FILE`" is the first block of that section;
//   - each line of a console block that begins with NAME$ is a command, the lines
//     after it are what it prints. A backslash at its end continues a command.
func Steps(pages fs.FS, name string) ([]Step, error) {
	text, err := fs.ReadFile(pages, name)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, b := range blocks(string(text)) {
		added, err := b.steps(pages, path.Dir(name))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, b.line, err)
		}
		steps = append(steps, added...)
	}
	return steps, nil
}

func (b block) steps(pages fs.FS, dir string) ([]Step, error) {
	switch b.language {
	case prose:
		return b.copies(pages, dir)
	case "console":
		return b.commands()
	}
	name := fileName.FindStringSubmatch(b.text)
	if name == nil {
		return nil, fmt.Errorf("the block of %q does not begin with a comment that has the name of a file", b.language)
	}
	return []Step{{Line: b.line, File: name[1], Text: b.text}}, nil
}

// copies are the blocks of other pages that are to be saved.
func (b block) copies(pages fs.FS, dir string) (steps []Step, err error) {
	for _, s := range saved.FindAllStringSubmatch(b.text, -1) {
		page, anchor, file := path.Join(dir, s[1]), s[2], s[3]
		text, err := fs.ReadFile(pages, page)
		if err != nil {
			return nil, err
		}
		from := ""
		for _, other := range blocks(string(text)) {
			if other.anchor == anchor && other.language != prose {
				from = other.text
				break
			}
		}
		if from == "" {
			return nil, fmt.Errorf("%s#%s has no block to save", page, anchor)
		}
		steps = append(steps, Step{Line: b.line, File: file, Text: from})
	}
	return steps, nil
}

// commands are those of a console block.
func (b block) commands() (steps []Step, err error) {
	continued := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		typed := prompt.FindStringSubmatch(line)
		switch {
		case continued:
			steps[len(steps)-1].Command += "\n" + line
		case typed != nil:
			steps = append(steps, Step{Line: b.line + i, Who: typed[1], Command: typed[2]})
		case len(steps) == 0:
			return nil, fmt.Errorf("output of no command: %s", line)
		default:
			steps[len(steps)-1].Shows += line + "\n"
		}
		continued = strings.HasSuffix(line, `\`) && (typed != nil || continued)
	}
	return steps, nil
}
