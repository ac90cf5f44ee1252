//go:build linux

package driver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// What a child is told, by its environment.
const (
	envChild     = "BERTH_TEST_DRIVER"    // the directory with everything
	envStep      = "BERTH_TEST_STEP"      // where it is killed; empty for nowhere
	envAfterlife = "BERTH_TEST_AFTERLIFE" // how long data stays
)

// ready is the line that a child says when it serves.
const ready = "ready"

// child is this program as a driver that is killed at a step, or from outside.
func child() int {
	root := os.Getenv(envChild)
	afterlife, err := time.ParseDuration(os.Getenv(envAfterlife))
	if err != nil {
		panic(err)
	}
	d, err := New(Options{
		Name: "scratch.berth.dev", Version: "v1", Node: "node-1", Directory: filepath.Join(root, "work"),
		Afterlife:     afterlife,
		PruneInterval: 5 * time.Millisecond, Now: time.Now, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Step: func(s Step) {
			if string(s) == os.Getenv(envStep) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		},
	})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	group, ctx := errgroup.WithContext(ctx)
	server := &Server{Driver: d, Path: filepath.Join(root, "csi.sock"), Kubelet: filepath.Join(root, "kubelet")}
	group.Go(func() error { return server.Serve(ctx) })
	group.Go(func() error { d.Run(ctx); return nil })
	listening(server.Path)
	fmt.Println(ready)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
	stop()
	if err := group.Wait(); err != nil {
		panic(err)
	}
	if d.Close() != nil {
		return 1
	}
	return 0
}

// listening waits until somebody listens on a socket, which may be there already.
func listening(socket string) {
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// process is a driver that can be killed.
type process struct {
	*testing.T
	root  string
	cmd   *exec.Cmd
	input io.Closer
	csi.NodeClient
	conn *grpc.ClientConn
	said logged
	// gone is closed when the process has ended, and err says how.
	gone chan struct{}
	err  error
}

// start starts a driver that is killed at a step.
func start(t *testing.T, root string, afterlife time.Duration, step Step) *process {
	t.Helper()
	p := &process{T: t, root: root, gone: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), "/proc/self/exe")
	p.cmd.Env = append(os.Environ(), envChild+"="+root, envStep+"="+string(step), envAfterlife+"="+afterlife.String())
	p.cmd.Stderr = &p.said
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// One that is killed while it starts says nothing.
	line, _ := bufio.NewReader(out).ReadString('\n')
	go func() {
		p.err = p.cmd.Wait()
		close(p.gone)
	}()
	if strings.TrimSpace(line) != ready && step == "" {
		p.kill()
		t.Fatalf("the driver does not start: %s", p.said.String())
	}
	p.conn, err = grpc.NewClient("unix://"+filepath.Join(root, "csi.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	p.NodeClient = csi.NewNodeClient(p.conn)
	return p
}

// kill ends it as a defect or the kernel would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.wait()
}

// end ends it as it would itself.
func (p *process) end() {
	p.Helper()
	p.input.Close()
	<-p.gone
	if p.err != nil {
		p.Errorf("%v: %s", p.err, p.said.String())
	}
	_ = p.conn.Close()
}

func (p *process) wait() {
	<-p.gone
	p.input.Close()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}
