//go:build linux

// Command volumes measures `berth serve volumes` with many volumes in their afterlife: what a
// publication and its end take beside a bare durable commit on the same disk, what a round
// over the queue takes, and how much memory it has. It takes root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/berthdev/berth/test/bench/internal/program"
	"github.com/berthdev/berth/test/bench/internal/tools"
)

type options struct {
	berth, dir     string
	queued, rounds int
	quiet          time.Duration
	strict         bool
}

// envInside says that this process has a mount namespace of its own.
const envInside = "BERTH_BENCH_MOUNT_NAMESPACE"

func main() {
	if os.Getuid() == 0 && os.Getenv(envInside) == "" {
		os.Exit(inside())
	}
	program.Main("volumes", run)
}

// inside runs this program where nothing that is mounted is seen by others, or stays.
func inside() int {
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.Env = append(os.Environ(), envInside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	if err := again.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "volumes:", err)
		return 1
	}
	return 0
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("volumes", flag.ContinueOnError)
	flags.StringVar(&o.berth, "berth", "", "a berth to measure instead of the checkout's")
	flags.StringVar(&o.dir, "dir", "", "a directory on the disk to measure on (default: that of temporary files)")
	flags.IntVar(&o.queued, "queued", 10_000, "how many volumes are in their afterlife")
	flags.IntVar(&o.rounds, "rounds", 200, "how often a volume is published and unpublished")
	flags.DurationVar(&o.quiet, "quiet", 20*time.Second, "for how long nothing happens but rounds over the queue")
	flags.BoolVar(&o.strict, "strict", false, "fail if an aim is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case os.Getuid() != 0:
		return o, errors.New("what is published is mounted: run it as root")
	case o.queued < 1 || o.rounds < 1 || o.quiet < time.Second:
		return o, errors.New("-queued and -rounds must be 1 at least, -quiet 1s")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "bv-") // a socket has a path of 107 bytes at most
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if o.berth == "" {
		built, err := tools.Build(ctx, "../..", dir, func(line string) { fmt.Fprintln(os.Stderr, line) })
		if err != nil {
			return err
		}
		o.berth = built.Berth
	}
	m := measurement{options: o, dir: dir}
	return m.run(ctx)
}
