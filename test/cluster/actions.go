//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/berthdev/berth/test/cluster/internal/instance"
	"github.com/berthdev/berth/test/cluster/internal/supervisor"
)

func up(ctx context.Context, i *instance.Instance, _ []string) error {
	if err := i.Up(ctx); err != nil {
		return err
	}
	return printEnv(i)
}

func down(_ context.Context, i *instance.Instance, _ []string) error { return i.Down() }

func env(_ context.Context, i *instance.Instance, _ []string) error {
	if err := mustRun(i); err != nil {
		return err
	}
	return printEnv(i)
}

func printEnv(i *instance.Instance) error {
	_, err := fmt.Printf("export KUBECONFIG=%s\n", i.Kubeconfig())
	return err
}

func kubeconfig(_ context.Context, i *instance.Instance, _ []string) error {
	if err := mustRun(i); err != nil {
		return err
	}
	_, err := fmt.Println(i.Kubeconfig())
	return err
}

// mustRun is for the commands that make no sense without a cluster.
func mustRun(i *instance.Instance) error {
	running, err := i.Running()
	if err != nil {
		return err
	}
	if !running {
		return fmt.Errorf("no cluster is running in %s: start it with cluster up", i.Dir())
	}
	return nil
}

func status(_ context.Context, i *instance.Instance, _ []string) error {
	if err := mustRun(i); err != nil {
		return err
	}
	states, err := i.Daemons()
	if err != nil {
		return err
	}
	fmt.Println("running in", i.Dir())
	ready := true
	for _, d := range states {
		ready = ready && d.Ready
		word := map[bool]string{true: "ready", false: "not ready"}[d.Ready]
		fmt.Printf("%-24s %-10s %d restarts %s\n", d.Name, word, d.Restarts, d.Exit)
	}
	if !ready {
		return errors.New("not everything is ready")
	}
	return nil
}

func restart(ctx context.Context, i *instance.Instance, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	if err := mustRun(i); err != nil {
		return err
	}
	return i.Restart(ctx, args[0])
}

func logs(_ context.Context, i *instance.Instance, args []string) error {
	if len(args) == 0 {
		paths, err := filepath.Glob(supervisor.LogFile(i.Dir(), "*"))
		for _, p := range paths {
			fmt.Println(p)
		}
		return err
	}
	file, err := os.Open(supervisor.LogFile(i.Dir(), args[0]))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(os.Stdout, file)
	return err
}

// kubectl leaves alone what is in the user's home: the cache, and the
// preferences, which could change what a command does.
func kubectl(_ context.Context, i *instance.Instance, args []string) error {
	if err := mustRun(i); err != nil {
		return err
	}
	environment := append(os.Environ(),
		"KUBECONFIG="+i.Kubeconfig(),
		"KUBECACHEDIR="+filepath.Join(i.Dir(), "kubectl-cache"),
		"KUBERC=off",
	)
	return syscall.Exec(i.Program("kubectl"), append([]string{"kubectl"}, args...), environment)
}
