package pagetest

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	link = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	code = regexp.MustCompile("`[^`]*`")
)

// Broken names the relative links of a page that lead nowhere: to a file that is
// not there, or to a section that its page does not have.
func Broken(files fs.FS, name string) (problems []string, err error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks(string(text)) {
		if b.language != prose {
			continue
		}
		for _, l := range link.FindAllStringSubmatch(code.ReplaceAllLiteralString(b.text, "x"), -1) {
			if !leads(files, name, l[1]) {
				problems = append(problems, fmt.Sprintf("%s:%d: %s leads nowhere", name, b.line, l[1]))
			}
		}
	}
	return problems, nil
}

func leads(files fs.FS, name, target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	if u.Host != "" {
		return true // another site is not ours to check
	}
	if u.Path != "" {
		name = path.Join(path.Dir(name), u.Path)
	}
	if _, err := fs.Stat(files, name); err != nil {
		return false
	}
	return u.Fragment == "" || slices.Contains(anchorsOf(files, name), u.Fragment)
}

func anchorsOf(files fs.FS, name string) (anchors []string) {
	text, _ := fs.ReadFile(files, name)
	for _, b := range blocks(string(text)) {
		if !strings.HasPrefix(b.text, "#") || b.language != prose {
			continue
		}
		anchors = append(anchors, b.anchor)
	}
	return anchors
}
