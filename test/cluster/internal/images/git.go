package images

import (
	"archive/tar"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Git is the image of a workspace with git in it.
const Git = "berth/workspace:git"

// gitPrograms are what a clone takes, and what serves one over HTTP.
func gitPrograms() []string {
	return []string{"/usr/bin/git", gitCore + "/git-remote-http", gitCore + "/git-http-backend"}
}

const gitCore = "/usr/lib/git-core"

// Git makes the image with the machine's git. It is made when it is asked for:
// its layer is larger than all the others together.
func (c *Catalog) Git() (v1.Image, error) {
	entries := []entry{
		directory("usr/share/git-core/templates", 0o755, 0), // git warns if it is missing
		link(gitCore+"/git", "/usr/bin/git"),
		link("/usr/bin/git-upload-pack", "git"),
		link("/usr/bin/git-receive-pack", "git"),
		link(gitCore+"/git-remote-https", "git-remote-http"),
	}
	files, err := withLibraries(gitPrograms())
	if err != nil {
		return nil, fmt.Errorf("read git (Debian package git): %w", err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read git (Debian package git): %w", err)
		}
		entries = append(entries, file(strings.TrimPrefix(name, "/"), 0o755, content))
	}
	layer, err := uncompressed(entries)
	if err != nil {
		return nil, err
	}
	return c.build(Git, v1.Config{Cmd: []string{"/bin/sh"}}, layer)
}

// withLibraries lists programs and what they are linked with, under the names
// that the loader looks for.
func withLibraries(programs []string) ([]string, error) {
	out, err := exec.Command("ldd", programs...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the libraries of %s: %w", strings.Join(programs, ", "), err)
	}
	files := slices.Clone(programs)
	for line := range strings.Lines(string(out)) {
		for word := range strings.FieldsSeq(line) {
			if path.IsAbs(word) && !strings.HasSuffix(word, ":") { // that one is a heading
				files = append(files, word)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func link(name, target string) entry {
	return entry{tar.Header{
		Name: strings.TrimPrefix(name, "/"), Typeflag: tar.TypeSymlink, Linkname: target,
		Mode: 0o777,
	}, nil}
}
