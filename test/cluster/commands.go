//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/binaries"
	"github.com/berthdev/berth/test/cluster/internal/instance"
)

const usage = `usage: cluster [--dir DIRECTORY] [--kubernetes 1.31] COMMAND

  up                start the cluster, or make sure that it is ready
  down              remove it, with every trace
  status            say whether it runs, and how its daemons are
  env               print "export KUBECONFIG=...", for eval $(cluster env)
  kubeconfig        print the path of its kubeconfig
  restart DAEMON    kill a daemon and wait until it is ready again
  logs [DAEMON]     print the paths of its logs, or the log of one daemon
  kubectl ARG...    run kubectl on it

One cluster for each checkout, unless --dir names a state directory; of the
newest Kubernetes, unless --kubernetes or BERTH_TEST_KUBERNETES names another.
`

var errUsage = errors.New("see the usage above")

// command is what the user asks for.
type command func(ctx context.Context, i *instance.Instance, args []string) error

func commands() map[string]command {
	return map[string]command{
		"up":         up,
		"down":       down,
		"status":     status,
		"env":        env,
		"kubeconfig": kubeconfig,
		"restart":    restart,
		"logs":       logs,
		"kubectl":    kubectl,
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if r, ok := roles()[args[0]]; ok && len(args)-1 == r.args {
			return r.run(args[1:])
		}
	}
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	dir := flags.String("dir", "", "state directory")
	minor := flags.String("kubernetes", os.Getenv("BERTH_TEST_KUBERNETES"), "minor version, as 1.31")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	do, ok := commands()[flags.Arg(0)]
	if !ok {
		flags.Usage()
		return errUsage
	}
	version, err := binaries.Find(*minor)
	if err != nil {
		return err
	}
	source, err := findSource()
	if err != nil {
		return err
	}
	if *dir == "" {
		*dir = instance.DefaultDir(filepath.Dir(filepath.Dir(source)))
	}
	i, err := instance.New(*dir, source, progress(time.Now()))
	if err != nil {
		return err
	}
	i.Kubernetes = version
	return do(ctx, i, flags.Args()[1:])
}

// progress writes lines with the time since the start to standard error.
func progress(start time.Time) func(string) {
	return func(line string) {
		fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(start).Seconds(), line)
	}
}

// findSource finds this module: around the working directory, or else where
// this program was built.
func findSource() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	_, file, _, _ := runtime.Caller(0)
	candidates := []string{filepath.Dir(file)}
	for dir := here; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		candidates = append(candidates, filepath.Join(dir, "test", "cluster"))
	}
	slices.Reverse(candidates[1:])
	for _, dir := range slices.Backward(candidates) {
		_, err := os.Stat(filepath.Join(dir, "kubernetes", "go.mod"))
		if err == nil {
			return filepath.EvalSymlinks(dir)
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			return "", err
		}
	}
	return "", errors.New("no test/cluster with the sources in or above the working directory: change into a checkout")
}
