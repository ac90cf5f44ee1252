package images

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

const agentConfig = `system:
  apiServer:
    enabled: false
    address: ""
  grpc:
    port: 2822
    enableTLS: false
    certFile: /etc/tls/k8shelld/tls.crt
    keyFile: "/etc/tls/k8shelld/tls.key"
terminateOrphans:
  enabled: true
`

const agentProfile = "username: alice\nuid: \"1234\"\ngid: '1234'\nshell: \"\"\naccount_locked: false\n"

// machine is a root directory with an agent in it, and how that is started.
type machine struct {
	root  string
	files map[string]string
	env   map[string]string
	uid   uint32
	late  bool // among other processes, not the first one
}

// newMachine has what a workspace gives its agent.
func newMachine(root string) *machine {
	return &machine{
		root: root,
		files: map[string]string{
			"etc/k8shell/config.yaml": agentConfig, "etc/k8shell/profile.yaml": agentProfile,
			"etc/k8shell/blueprint.yaml": "# dev\nmetadata: {}\n",
			"etc/tls/k8shelld/tls.crt":   "", "etc/tls/k8shelld/tls.key": "", // none
			"usr/local/k8shell/system/__init_01_one": "echo one >> $HOME/ran; pwd >> $HOME/ran; id -u >> $HOME/ran\n",
			"usr/local/k8shell/system/__init_02_bad": "#!/bin/sh -e\nfalse\necho never >> $HOME/ran\n",
			"usr/local/k8shell/system/__init_03_end": "echo end >> $HOME/ran\n",
		},
		env: map[string]string{"USERNAME": "alice", "WORKSPACE": "alice-59936c3"},
	}
}

// start starts the agent, as the first process of a container if that is not to be otherwise.
func (m *machine) start(t *testing.T) (*exec.Cmd, *output) {
	t.Helper()
	for name, content := range m.files {
		at := filepath.Join(m.root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if content == "" {
			_ = os.Remove(at)
		} else if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd, out := exec.Command("/usr/local/bin/k8shelld"), &output{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
	for name, value := range m.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: m.root, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		Credential: &syscall.Credential{Uid: m.uid, Gid: m.uid}, Pdeathsig: syscall.SIGKILL,
	}
	if m.late {
		cmd.SysProcAttr.Cloneflags &^= syscall.CLONE_NEWPID
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// The agent does not start where k8shell's does not: each row lacks one thing.
func TestAgentRefuses(t *testing.T) {
	root := agentRoot(t)
	tls := strings.Replace(agentConfig, "enableTLS: false", "enableTLS: true", 1)
	api := strings.Replace(agentConfig, "enabled: false", "enabled: true", 1)
	without := func(file string) func(*machine) {
		return func(m *machine) { m.files["etc/k8shell/"+file] = "" }
	}
	configured := func(text string) func(*machine) {
		return func(m *machine) { m.files["etc/k8shell/config.yaml"] = text }
	}
	addressed := strings.Replace(api, `address: ""`, "address: http://api-server.k8shell:9101", 1)
	for name, c := range map[string]struct {
		change func(*machine)
		want   string
	}{
		"not root":               {func(m *machine) { m.uid = Dev }, "must be started as root"},
		"not the first process":  {func(m *machine) { m.late = true }, "must be the first process"},
		"no configuration":       {without("config.yaml"), "config.yaml cannot be"},
		"no username":            {func(m *machine) { delete(m.env, "USERNAME") }, "USERNAME is not set"},
		"no workspace":           {func(m *machine) { delete(m.env, "WORKSPACE") }, "WORKSPACE is not set"},
		"no profile":             {without("profile.yaml"), "profile.yaml cannot be"},
		"another's profile":      {func(m *machine) { m.env["USERNAME"] = "bob" }, "the profile is of alice"},
		"an API server nowhere":  {configured(api), "has no address"},
		"no token":               {configured(addressed), "PAT_TOKEN is not set"},
		"TLS and no certificate": {configured(tls), "certFile /etc/tls/"},
		"TLS and no key": {func(m *machine) {
			m.files["etc/k8shell/config.yaml"], m.files["etc/tls/k8shelld/tls.crt"] = tls, "x"
		}, "keyFile /etc/tls/"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(root)
			c.change(m)
			cmd, out := m.start(t)
			stuck := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
			defer stuck.Stop()
			exit, ended := errors.AsType[*exec.ExitError](cmd.Wait())
			if !ended || exit.ExitCode() != 1 || !strings.Contains(out.String(), "fatal: ") ||
				!strings.Contains(out.String(), c.want) {
				t.Errorf("%v, %q, want %q", exit, out, c.want)
			}
		})
	}
}

// With all that it needs, it listens, runs the scripts in the background as the user, each until it has ended well
// once, and ends well itself when it is told to; the blueprint may be missing.
func TestAgentStarts(t *testing.T) {
	root := agentRoot(t)
	m := newMachine(root)
	m.files["etc/k8shell/blueprint.yaml"] = ""
	m.files["etc/k8shell/config.yaml"] = strings.NewReplacer("enableTLS: false", "enableTLS: true", "2822", "2823",
		"enabled: false", "enabled: true", `address: ""`, "address: http://api").Replace(agentConfig)
	m.files["etc/tls/k8shelld/tls.crt"], m.files["etc/tls/k8shelld/tls.key"] = "x", "x"
	m.env["K8SHELL_PAT_TOKEN"] = "secret"
	home := filepath.Join(root, "home", "alice")
	for i, want := range []string{"one\n/home/alice\n1234\nend\n", "one\n/home/alice\n1234\nend\n"} {
		cmd, out := m.start(t)
		within(t, out, "it listens, and the scripts have run", func() bool {
			_, err := os.Stat(filepath.Join(home, ".k8shell", "flags", "__init_03_end"))
			return err == nil && strings.Contains(out.String(), "__init_02_bad has failed") &&
				listens(cmd.Process.Pid, 2823) && strings.Contains(out.String(), "listening on 2823")
		})
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("start %d ends with %v: %s", i+1, err, out)
		}
		ran, err := os.ReadFile(filepath.Join(home, "ran"))
		if err != nil || string(ran) != want {
			t.Errorf("after start %d: %v, %q, want %q", i+1, err, ran, want)
		}
		if !strings.Contains(out.String(), "warning: /etc/k8shell/blueprint.yaml") {
			t.Errorf("nothing is said of the blueprint: %s", out)
		}
	}
	if _, err := os.Stat(filepath.Join(home, ".k8shell", "flags", "__init_02_bad")); err == nil {
		t.Error("what has failed has its flag")
	}
}

// The image has its files where the script of the original looks for them, which fails if one is missing.
func TestAgentInstalls(t *testing.T) {
	root := agentRoot(t)
	if err := os.Remove(filepath.Join(root, AgentDist, "sftp")); err != nil {
		t.Fatal(err)
	}
	if out, err := initBase(root); err == nil || !strings.Contains(out, "sftp is missing") {
		t.Errorf("%v: %s", err, out)
	}
}

// lacks skips a test that this machine cannot run, which is a failure where all tests have to run.
func lacks(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("BERTH_TEST_NO_SKIP") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// agentRoot is what an agent's image has, with the agent installed there.
func agentRoot(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		lacks(t, "not root: the stand-in needs a container of its own")
	}
	catalog, err := NewCatalog()
	if err != nil {
		lacks(t, err)
	}
	image, err := catalog.agent(Agent)
	if err != nil {
		t.Fatal(err)
	}
	if config, err := image.ConfigFile(); err != nil || len(config.Config.Entrypoint)+len(config.Config.Cmd) > 0 {
		t.Fatalf("%v: the image has a command: %+v", err, config)
	}
	root := t.TempDir()
	content := mutate.Extract(image)
	defer content.Close()
	unpack(t, content, root)
	for _, dir := range []string{"usr/local/bin", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "dev", "null"), nil, 0o644); err != nil { // as good as the device, here
		t.Fatal(err)
	}
	if out, err := initBase(root); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return root
}

func initBase(root string) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", "/k8shell/dist/scripts/init-base")
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: root}
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func unpack(t *testing.T, content io.Reader, root string) {
	t.Helper()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(root, header.Name)
		_ = os.MkdirAll(filepath.Dir(at), 0o755)
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(at, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(header.Linkname, at)
		default:
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(at, data, os.FileMode(header.Mode))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listens reports whether something listens on a port of a process's network.
func listens(pid, port int) bool {
	wanted := ":" + strings.ToUpper(strconv.FormatInt(int64(port)+1<<16, 16))[1:] + " "
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/net/" + table)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, wanted) && strings.Contains(line, " 0A ") {
				return true
			}
		}
	}
	return false
}

func within(t *testing.T, out *output, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 seconds: %s\n%s", what, out)
		}
	}
}

// output is what a process has said so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
