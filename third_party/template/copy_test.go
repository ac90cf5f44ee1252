package template

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "copy the files of the Go that runs this")

// version is the Go whose files these are.
const version = "go1.26.8"

// files are the copies, and where the standard library has them.
var files = map[string]string{
	"exec.go":         "text/template/exec.go",
	"funcs.go":        "text/template/funcs.go",
	"option.go":       "text/template/option.go",
	"template.go":     "text/template/template.go",
	"fmtsort/sort.go": "internal/fmtsort/sort.go",
}

// changed is what is different in them. Imports are where gofmt has them.
var changed = strings.NewReplacer(
	"\t\"internal/fmtsort\"\n", "",
	"\t\"text/template/parse\"\n)", "\t\"text/template/parse\"\n\n"+
		"\t\"github.com/berthdev/berth/third_party/template/fmtsort\"\n)",
	"ptr.MethodByName(fieldName)", "methodByName(ptr, fieldName)",
)

// Each file is that of the standard library, but for what is said above.
func TestIsTheStandardLibrary(t *testing.T) {
	if runtime.Version() != version && !*update {
		t.Logf("these are the files of %s: %s is not compared", version, runtime.Version())
		return
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range files {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", of))
		if err != nil {
			t.Fatal(err)
		}
		want := string(text)
		if name == "exec.go" {
			want = changed.Replace(want)
		}
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || string(have) != want {
			t.Errorf("%s is not that of %s with its one change: %v", name, version, err)
		}
	}
}
