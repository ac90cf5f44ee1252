package version_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/fault"
)

const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		status int
		files  string
		out    string // the second line
		err    string
	}{
		"a release": {
			files: sum + "  berth.yaml\n" + sum + "  berth_12.4.0_linux_amd64.tar.gz\n",
			out:   "Version v12.4.0 is available",
		},
		"a release for Windows alone": {
			files: sum + "  berth_12.4.0-rc1_windows_arm64.zip\n",
			out:   "Version v12.4.0-rc1 is available",
		},
		"other files":      {files: sum + "  other_1.0.0_linux_amd64.tar.gz\n", err: "names no archive of berth"},
		"an escape":        {files: sum + "  berth_1.0\x1b[2J_linux_amd64.tar.gz\n", err: "names no archive of berth"},
		"a page":           {files: "<html>log in</html>", err: "names no archive of berth"},
		"no release":       {status: http.StatusNotFound, err: "checksums.txt: 404 Not Found"},
		"one without end":  {files: strings.Repeat("x", 1<<20), err: "names no archive of berth"},
		"an empty release": {err: "names no archive of berth"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/releases/latest/download/checksums.txt" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				if test.status != 0 {
					w.WriteHeader(test.status)
				}
				_, _ = io.WriteString(w, test.files)
			}))
			defer server.Close()
			t.Setenv("BERTH_RELEASES", server.URL+"/releases/")
			if test.err != "" {
				_, stderr := cmdtest.Must(t, fault.Unavailable.Exit(), "version", "--check")
				if !strings.Contains(stderr, test.err) {
					t.Errorf("%s\nwant %s", stderr, test.err)
				}
				return
			}
			out, _ := cmdtest.Must(t, 0, "version", "--check")
			if lines := strings.Split(out, "\n"); len(lines) != 3 || lines[1] != test.out {
				t.Errorf("%q, want a second line %q", out, test.out)
			}
		})
	}
}

// Nothing is asked without --check.
func TestNoCheck(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("asked for %s", r.URL.Path)
	}))
	defer server.Close()
	t.Setenv("BERTH_RELEASES", server.URL)
	cmdtest.Must(t, 0, "version")
}
