package commands_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// What keeps cp from being the OS user who is asked for is what it says, whichever way it
// copies: nothing was read or written.
func TestCopyAsAnUserWhoIsRefused(t *testing.T) {
	cmdtest.Offline(t)
	const refusal = "cannot enter container k8shell-main as user nosuch: no such user in the container"
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/exec") {
				next.ServeHTTP(w, r)
				return
			}
			kubetest.Exec(w, r, func(streams map[string]httpstream.Stream) {
				if stdin := streams["stdin"]; stdin != nil {
					go func() { _, _ = io.Copy(io.Discard, stdin) }()
				}
				_, _ = io.WriteString(streams["stderr"], "berth: "+refusal+"\n")
				_, _ = io.WriteString(streams["error"],
					`{"status":"Failure","reason":"NonZeroExitCode",`+
						`"details":{"causes":[{"reason":"ExitCode","message":"125"}]}}`)
				for _, name := range []string{"stdout", "stderr", "error"} {
					_ = streams[name].Close()
				}
			})
		})
	})
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice~default")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{file, "alice~default+user=nosuch:file"},
		{"alice~default+user=nosuch:file", file + "2"},
	} {
		_, stderr := cmdtest.Must(t, 3, append([]string{"cp"}, args...)...)
		if !strings.Contains(stderr, "error: "+refusal) || strings.Contains(stderr, "cannot read") {
			t.Errorf("berth cp %q: %s", args, stderr)
		}
	}
}
