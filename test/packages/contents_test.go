package packages

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/goldentest"
)

// Each package and each archive has the program, completions, man pages and the license, and nothing else. The man
// pages are one line of the list, and all that there are.
func TestContents(t *testing.T) {
	var all strings.Builder
	for _, machine := range []string{
		"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64",
	} {
		system, _, _ := strings.Cut(machine, "_")
		kinds := []string{".tar.gz"}
		switch system {
		case "linux":
			kinds = append(kinds, ".deb", ".rpm", ".apk")
		case "windows":
			kinds = []string{".zip"}
		}
		for _, kind := range kinds {
			fmt.Fprintf(&all, "%s\n", machine+kind)
			for _, line := range foldPages(t, list(t, artifact(t, "_"+machine+kind))) {
				fmt.Fprintf(&all, "  %s\n", line)
			}
		}
	}
	goldentest.Check(t, "contents.txt", all.String())
}

// list is the files of a package or an archive, with their modes, as the programs of its kind see them.
func list(t *testing.T, file string) (lines []string) {
	t.Helper()
	switch path.Ext(file) {
	case ".deb":
		needs(t, "dpkg")
		for line := range strings.Lines(run(t, "dpkg", "-c", file)) {
			fields := strings.Fields(line)
			lines = append(lines, fields[0]+" "+strings.TrimPrefix(fields[len(fields)-1], "."))
		}
	case ".rpm":
		needs(t, "rpm")
		format := "[%{FILEMODES:perms} %{FILENAMES}\\n]"
		listed := run(t, "rpm", "-qp", "--nosignature", "--queryformat", format, file)
		lines = strings.Split(strings.TrimSpace(listed), "\n")
	case ".zip":
		archive, err := zip.OpenReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = archive.Close() }()
		for _, f := range archive.File {
			lines = append(lines, f.Mode().String()+" "+f.Name)
		}
	default:
		for _, header := range readTar(t, file) {
			lines = append(lines, header.FileInfo().Mode().String()+" "+header.Name)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "d") })
	slices.Sort(lines)
	return lines
}

// foldPages makes one line of the man pages, which have to be all that there are.
func foldPages(t *testing.T, lines []string) []string {
	t.Helper()
	var pages, others []string
	for _, line := range lines {
		if strings.HasSuffix(line, ".1") {
			pages = append(pages, path.Base(line))
		} else {
			others = append(others, line)
		}
	}
	made, err := filepath.Glob("../../man/*.1")
	if err != nil || len(made) < 2 {
		t.Fatalf("`make man` has made %q (%v)", made, err)
	}
	for i, page := range made {
		made[i] = filepath.Base(page)
	}
	slices.Sort(pages)
	if !slices.Equal(pages, made) {
		t.Errorf("has the man pages %q, want %q", pages, made)
	}
	if len(pages) == 0 {
		return others
	}
	first := slices.IndexFunc(lines, func(line string) bool { return strings.HasSuffix(line, ".1") })
	return append(others, path.Dir(lines[first])+"/*.1")
}

// readTar reads what is in a compressed archive.
func readTar(t *testing.T, file string) (headers []*tar.Header) {
	t.Helper()
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	compressed, err := gzip.NewReader(opened)
	if err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(compressed)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return headers
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		headers = append(headers, header)
	}
}

// apkVersion is what apk takes for a version.
var apkVersion = regexp.MustCompile(`^\d+(\.\d+)*[a-z]?(_(alpha|beta|pre|rc|cvs|svn|git|hg|p)\d*)*(-r\d+)?$`)

// TestApkIsWhole: an apk is two archives, one after the other. The first says what the second is, and its sum: apk
// refuses a package of which that is not true.
func TestApkIsWhole(t *testing.T) {
	for _, machine := range []string{"amd64", "arm64"} {
		text, err := os.ReadFile(artifact(t, "_linux_"+machine+".apk"))
		if err != nil {
			t.Fatal(err)
		}
		control, data := splitApk(t, text)
		info := map[string]string{}
		for line := range strings.Lines(control) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
				info[key] = value
			}
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); info["datahash"] != sum {
			t.Errorf("%s: the sum of the content is %s, the package says %q", machine, sum, info["datahash"])
		}
		architecture := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[machine]
		if info["pkgname"] != "berth" || info["arch"] != architecture || info["depend"] != "" {
			t.Errorf("%s: the package says of itself:\n%s", machine, control)
		}
		if !apkVersion.MatchString(info["pkgver"]) {
			t.Errorf("%s: apk does not take the version %q", machine, info["pkgver"])
		}
	}
}

// splitApk is what an apk says of itself, and its compressed content.
func splitApk(t *testing.T, text []byte) (info string, data []byte) {
	t.Helper()
	rest := bytes.NewReader(text)
	buffered := bufio.NewReader(rest)
	compressed, err := gzip.NewReader(buffered)
	if err != nil {
		t.Fatal(err)
	}
	compressed.Multistream(false)
	control, err := io.ReadAll(compressed)
	if err != nil {
		t.Fatal(err)
	}
	// The first archive has no end: the second one goes on with it.
	reader := tar.NewReader(bytes.NewReader(control))
	for {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("no .PKGINFO: %v", err)
		}
		if header.Name == ".PKGINFO" {
			break
		}
	}
	said, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(said), text[len(text)-rest.Len()-buffered.Buffered():]
}
