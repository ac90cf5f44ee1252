//go:build e2e

// Package e2e tests berth as it is used: the binary, against a real cluster.
//
// BERTH_TEST_KUBECONFIG names a kubeconfig of the cluster that test/cluster
// brings up; `make test` sets it. Every test works in a namespace of its own.
package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the berth under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv(kubeconfigVariable) == "" {
		fmt.Fprintf(os.Stderr, "%s is not set: run `make test`, or `make cluster-up` and name its kubeconfig\n",
			kubeconfigVariable)
		return 1
	}
	dir, err := os.MkdirTemp("", "berth-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "berth")
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-o", binary, "../../cmd/berth")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building berth: %v\n%s", err, out)
		return 1
	}
	if err := installGuard(); err != nil {
		fmt.Fprintf(os.Stderr, "the policy of records: %v\n", err)
		return 1
	}
	return m.Run()
}

// installGuard has the cluster guard records of workspaces, as it does where a loop runs: all
// commands work with that.
func installGuard() error {
	kubeconfig := os.Getenv(kubeconfigVariable)
	printed, err := exec.Command(binary, "serve", "manifests", "workspaces").Output()
	if err != nil {
		return err
	}
	var policies [][]byte
	for document := range bytes.SplitSeq(printed, []byte("---\n")) {
		if bytes.Contains(document, []byte("\nkind: ValidatingAdmissionPolicy")) {
			policies = append(policies, document)
		}
	}
	apply := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "apply", "--server-side", "--force-conflicts",
		"--kubeconfig", kubeconfig, "-f", "-")
	apply.Stdin = bytes.NewReader(bytes.Join(policies, []byte("---\n")))
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

const kubeconfigVariable = "BERTH_TEST_KUBECONFIG"
