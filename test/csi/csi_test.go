//go:build linux

// Package csi runs csi-sanity, the conformance tests of CSI drivers, against `berth serve
// volumes`. It is a module of its own, so that berth does not have what it takes.
package csi

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
)

// envInside says that the test runs in a mount namespace of its own.
const envInside = "BERTH_TEST_MOUNT_NAMESPACE"

func TestMain(m *testing.M) {
	if os.Getuid() != 0 || os.Getenv(envInside) != "" {
		os.Exit(m.Run())
	}
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.Env = append(os.Environ(), envInside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	var ended *exec.ExitError
	if err := again.Run(); errors.As(err, &ended) {
		os.Exit(max(ended.ExitCode(), 1))
	} else if err != nil {
		panic(err)
	}
}

// applicable is how many specifications of csi-sanity apply to the driver.
const applicable = 17

// TestSanity runs all of csi-sanity that applies to a driver with Identity and Node.
//
// Left out, by csi-sanity itself, as the driver does not offer them: the services
// Controller and GroupController, staging, expanding, and the health of volumes.
// What tests the life of a volume takes a controller that makes it: a stand-in makes
// up inline volumes as the kubelet does.
func TestSanity(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs berth: make test-csi")
	}
	if os.Getenv(envInside) == "" {
		if os.Getenv("BERTH_TEST_NO_SKIP") != "" {
			t.Fatal("takes root: what is published is mounted")
		}
		t.Skip("takes root: what is published is mounted")
	}
	dir, err := os.MkdirTemp("", "csi-") //nolint:usetesting // a socket has a path of 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	driver := serve(t, dir)
	defer driver()
	front := filepath.Join(dir, "front.sock")
	stop := standIn(t, front, "unix://"+filepath.Join(dir, "csi.sock"))
	defer stop()

	config := sanity.NewTestConfig()
	config.Address = "unix://" + front
	config.TargetPath, config.StagingPath = filepath.Join(dir, "target"), filepath.Join(dir, "staging")
	context := sanity.GinkgoTest(&config)
	defer context.Finalize()
	gomega.RegisterFailHandler(ginkgo.Fail)
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.SkipStrings = []string{"Controller Service"} // of the stand-in
	ran := 0
	ginkgo.ReportAfterEach(func(r ginkgo.SpecReport) {
		if r.State.Is(types.SpecStatePassed) {
			ran++
		}
	})
	ginkgo.RunSpecs(t, "csi-sanity", suite, reporter)
	// One that finds nothing to test passes.
	if ran < applicable {
		t.Errorf("%d specifications passed, want %d at least", ran, applicable)
	}
}

// serve runs berth as the driver.
func serve(t *testing.T, dir string) (end func()) {
	t.Helper()
	berth := filepath.Join(dir, "berth")
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-buildvcs=false", "-o", berth, "./cmd/berth")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	socket := filepath.Join(dir, "csi.sock")
	cmd := exec.Command(berth, "serve", "volumes", "--node", "node-1", "--directory", filepath.Join(dir, "work"),
		"--kubelet-directory", filepath.Join(dir, "kubelet"), "--endpoint", "unix://"+socket, "--metrics-listen",
		"127.0.0.1:0")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(said)
		log <- string(text)
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("the driver does not listen: %s", <-log)
		}
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		text := <-log
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("the driver ends with %v: %s", err, text)
		}
	}
}
