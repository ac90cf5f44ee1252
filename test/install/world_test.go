package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

const script = "../../install.sh"

// programs are those that install.sh may use, beside those that download.
var programs = []string{
	"basename", "cat", "chmod", "cp", "cut", "dirname", "grep", "gzip", "head", "mkdir", "mktemp", "mv", "rm", "sed",
	"sha256sum", "sh", "sort", "tail", "tar", "uname",
}

// release is what a server offers: each field can be what it should not be.
type release struct {
	version   string
	program   string // the program's text; empty for one that says its version
	sum       string // of the archive; empty for the right one
	target    string // empty for this machine
	half      bool   // the archive ends in the middle
	signed    bool   // has a signature
	unsummed  bool   // has no checksums
	different string // the version that checksums.txt of another version's address has
}

// saying is a program that answers what install.sh asks of berth.
func saying(version string) string {
	return "#!/bin/sh\ncase \"$*\" in version | 'version -o jsonpath={.version}') ;; *) exit 2 ;; esac\n" +
		"echo v" + version + "\n"
}

func (r release) archive(t *testing.T) []byte {
	program := r.program
	if program == "" {
		program = saying(r.version)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"berth": program, "completions/berth.bash": "bash " + r.version, "completions/berth.fish": "fish",
		"completions/berth.zsh": "zsh", "man/berth.1": "page", "LICENSE": "license",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// serve offers releases as GitHub does: each below its tag, and the first one as the latest.
func serve(t *testing.T, releases ...release) string {
	mux := http.NewServeMux()
	for i, r := range releases {
		target := r.target
		if target == "" {
			target = runtime.GOOS + "_" + runtime.GOARCH
		}
		content := r.archive(t)
		sum := r.sum
		if sum == "" {
			sum = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		name := fmt.Sprintf("berth_%s_%s.tar.gz", r.version, target)
		files := map[string]string{name: string(content)}
		if !r.unsummed {
			files["checksums.txt"] = fmt.Sprintf("%064d  berth_%s_plan9_mips.tar.gz\n%s  %s\n", 0, r.version, sum, name)
		}
		if r.signed {
			files["checksums.txt.sigstore.json"] = "{}"
		}
		for file, text := range files {
			answer := func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(text)))
				if r.half && file == name {
					text = text[:len(text)/2]
				}
				_, _ = w.Write([]byte(text))
			}
			tag := r.version
			if r.different != "" {
				tag = r.different
			}
			mux.HandleFunc("/download/v"+tag+"/"+file, answer)
			if i == 0 {
				mux.HandleFunc("/latest/download/"+file, answer)
			}
		}
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// system is a home directory, and what its PATH leads to.
type system struct{ home, bin string }

// newSystem has this machine's programs, and the one that downloads; empty for none.
func newSystem(t *testing.T, downloads string) system {
	s := system{t.TempDir(), t.TempDir()}
	for _, name := range append(programs, downloads) {
		if name == "" {
			continue
		}
		program, err := exec.LookPath(name)
		if err != nil {
			skiptest.Lacks(t, "no %s on this machine", name)
		}
		s.link(t, program, name)
	}
	return s
}

func (s system) link(t *testing.T, program, name string) {
	if err := os.Symlink(program, filepath.Join(s.bin, name)); err != nil {
		t.Fatal(err)
	}
}

// run runs a script that arrives on standard input, as from a pipe of curl.
func (s system) run(text, releases string, env ...string) (output string, err error) {
	cmd := exec.Command(filepath.Join(s.bin, "sh"))
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + s.bin, "TMPDIR=" + s.home, "BERTH_RELEASES=" + releases},
		env...)
	out, err := cmd.CombinedOutput()
	return strings.NewReplacer(s.home, "~", releases, "URL").Replace(string(out)), err
}

func (s system) write(t *testing.T, path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func (s system) program() string { return filepath.Join(s.home, ".local", "bin", "berth") }

// files are the files below the home directory.
func (s system) files(t *testing.T) []string {
	var files []string
	err := filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, s.home+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func theScript(t *testing.T) string {
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
