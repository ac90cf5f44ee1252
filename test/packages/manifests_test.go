package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
)

// What tells brew, scoop, winget and krew where berth is, with the version and the sums put out of it. Each sum is that
// of the archive whose address is next to it.
func TestManifests(t *testing.T) {
	sums := map[string]string{} // of a file
	text, err := os.ReadFile(filepath.Join(snapshot(t), "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[file] = sum
	}
	var manifests []string
	err = filepath.WalkDir(snapshot(t), func(path string, d os.DirEntry, err error) error {
		switch name, _ := filepath.Rel(snapshot(t), path); {
		case err != nil:
			return err
		case d.IsDir():
		case regexp.MustCompile(`^(homebrew|scoop|winget|krew)/`).MatchString(name):
			manifests = append(manifests, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(manifests) != 6 { // three of them are winget's
		t.Errorf("the manifests are %q, want 6", manifests)
	}
	for _, name := range manifests {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(snapshot(t), name))
			if err != nil {
				t.Fatal(err)
			}
			checkSums(t, string(text), sums)
			goldentest.Check(t, "manifests/"+filepath.Base(name), withoutVersion(t, string(text)))
		})
	}
}

var (
	sumPattern       = regexp.MustCompile(`(?i)\b[0-9a-f]{64}\b`)
	archivePattern   = regexp.MustCompile(`berth_(#\{version\}|[0-9][^"/\s]*?)_([a-z]+_[a-z0-9]+\.(tar\.gz|zip))`)
	datePattern      = regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`)
	tagPattern       = regexp.MustCompile(`/download/v[^/]+/`) // of a snapshot, the last one
	pagePattern      = regexp.MustCompile(`(?m)(^  manpage "man/[a-z-]+\.1"\n)+`)
	installerPattern = regexp.MustCompile(`(?m)^  - Architecture: .*\n(    .*\n)+`)
)

// checkSums fails the test unless the sums of a manifest are, in this order, those of the archives that it names.
func checkSums(t *testing.T, text string, sums map[string]string) {
	t.Helper()
	is := sumPattern.FindAllString(text, -1)
	named := archivePattern.FindAllStringSubmatch(text, -1)
	version := version(t)
	if len(is) != len(named) {
		t.Fatalf("%d sums and %d archives in:\n%s", len(is), len(named), text)
	}
	for i, archive := range named {
		file := "berth_" + version + "_" + archive[2]
		if sums[file] == "" || !strings.EqualFold(sums[file], is[i]) {
			t.Errorf("has %s next to %s, whose sum is %q", is[i], file, sums[file])
		}
	}
}

// withoutVersion is a manifest as it is for every version, with the man pages in one line and winget's installers in
// the order of their architectures: they come in the one in which goreleaser has finished them.
func withoutVersion(t *testing.T, text string) string {
	t.Helper()
	text = sumPattern.ReplaceAllString(text, "SUM")
	if installers := installerPattern.FindAllString(text, -1); len(installers) > 1 {
		before := strings.Join(installers, "")
		slices.Sort(installers)
		text = strings.Replace(text, before, strings.Join(installers, ""), 1)
	}
	text = tagPattern.ReplaceAllString(text, "/download/TAG/")
	text = pagePattern.ReplaceAllStringFunc(text, func(lines string) string {
		if made, _ := filepath.Glob("../../man/*.1"); strings.Count(lines, "\n") != len(made) {
			t.Errorf("%d man pages are made, and these are named:\n%s", len(made), lines)
		}
		return "  manpage \"man/*.1\"\n"
	})
	return datePattern.ReplaceAllString(strings.ReplaceAll(text, version(t), "VERSION"), "DATE")
}
