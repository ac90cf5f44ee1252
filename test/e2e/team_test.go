//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/internal/pagetest"
)

// The images of the page are those of the test cluster; all else is as it is
// written.
var pageImages = strings.NewReplacer(
	"registry.example.com/team/dev:", "registry.example.com/berth/workspace:v",
	"registry.example.com/team/ci:", "registry.example.com/private/workspace:v",
	"team/dev:", "berth/workspace:v",
)

// slowAnswers are what berth prints where an API server takes seconds for an answer, as it may on a busy machine.
var slowAnswers = regexp.MustCompile(`(?m)^waiting for the API server \S+ to answer\r?\n`)

// Anyone who does what docs/team.md says, sees what it says.
func TestTeamPage(t *testing.T) {
	parallel(t)
	w := newBareWorld(t)
	steps, err := pagetest.Steps(os.DirFS("../../docs"), "team.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"team", "platform"} {
		w.isOurs(namespace)
	}
	team := w.team()
	for _, s := range steps {
		if s.File != "" {
			team.write(s)
			continue
		}
		out, err := team.as(s.Who, pageImages.Replace(s.Command)).CombinedOutput()
		out = slowAnswers.ReplaceAll(out, nil)
		if shows := pageImages.Replace(s.Shows); err != nil || shows != "" && !pagetest.Matches(shows, string(out)) {
			t.Fatalf("docs/team.md:%d: %s: %v\nthe page shows:\n%s\nit printed:\n%s", s.Line, s.Command, err, shows,
				out)
		}
	}
}

// isOurs fails the test if the namespace is there, and removes it in the end.
func (w *world) isOurs(name string) {
	w.Helper()
	if _, err := w.CoreV1().Namespaces().Get(w.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		w.Fatalf("namespace %s is there already, or cannot be read: %v", name, err)
	}
	w.Cleanup(func() { _ = w.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// team is the people of the page: a directory that they share, and a home for each.
type team struct {
	w         *world
	dir, home string
	path      string
}

func (w *world) team() team {
	w.Helper()
	programs := []string{filepath.Dir(binary), filepath.Dir(os.Getenv("BERTH_TEST_KUBECTL")), os.Getenv("PATH")}
	all := team{w: w, dir: w.TempDir(), home: w.TempDir(), path: strings.Join(programs, string(filepath.ListSeparator))}
	all.kubeconfig("admin", "")
	all.kubeconfig("alice", "alice", "developers")
	return all
}

// kubeconfig is one for somebody: that of the administrator, who acts for user.
func (t team) kubeconfig(who, user string, groups ...string) {
	t.w.Helper()
	config, err := clientcmd.LoadFromFile(t.w.admin)
	if err != nil {
		t.w.Fatal(err)
	}
	login := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
	login.Impersonate, login.ImpersonateGroups = user, groups
	if err := clientcmd.WriteToFile(*config, filepath.Join(t.home, who, "kubeconfig")); err != nil {
		t.w.Fatal(err)
	}
}

func (t team) write(s pagetest.Step) {
	t.w.Helper()
	path := filepath.Join(t.dir, s.File)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.w.Fatal(err)
	}
	t.w.write(t.dir, s.File, pageImages.Replace(s.Text))
}

// as is a command of somebody. The job of the CI has the files that the page makes
// for it.
func (t team) as(who, command string) *exec.Cmd {
	cmd := exec.CommandContext(t.w.Context(), "bash", "-c", command)
	cmd.Dir = t.dir
	home := filepath.Join(t.home, who)
	cmd.Env = []string{
		"PATH=" + t.path, "HOME=" + home, "KUBECONFIG=" + filepath.Join(home, "kubeconfig"),
		"LANG=C.UTF-8", "REGISTRY_USER=berth", "REGISTRY_PASSWORD=berth-test",
	}
	if who == "ci" {
		cmd.Env = append(cmd.Env, "KUBECONFIG=ci.kubeconfig", "BERTH_CONFIG=config.yaml")
	}
	return cmd
}
