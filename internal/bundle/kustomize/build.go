// Package kustomize builds kustomizations with kustomize's own library, of the files of a bundle alone.
//
// The library takes neither a context nor a bound, keeps schemas in variables that all builds of a process share, and
// fetches what looks like a URL. So it runs in a process of its own (see Worker), which has nothing but these files,
// and is ended when it takes too much.
package kustomize

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// Limits bound a build.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes of the process
	Output int   // bytes of the objects
}

// What a build may take if the limits do not say otherwise: as much as a chart. A small one takes 40 MiB, with the
// schemas of Kubernetes.
const (
	defaultTime   = 20 * time.Second
	defaultMemory = 160 << 20
	defaultOutput = 12 << 20
	maxInput      = 32 << 20 // bytes of the files that a kustomization can refer to
)

// Build makes objects, as a text of YAML, of the kustomization at the root of files.
func Build(ctx context.Context, fsys fs.FS, limits Limits) ([]byte, error) {
	limits.Time = cmp.Or(limits.Time, defaultTime)
	limits.Memory = cmp.Or(limits.Memory, defaultMemory)
	limits.Output = cmp.Or(limits.Output, defaultOutput)
	begun := time.Now()
	names, err := limits.inputs(ctx, fsys)
	if err != nil {
		return nil, err
	}
	return work(ctx, fsys, names, limits, limits.Time-time.Since(begun))
}

// inputs are the files that are needed, of a kustomization that can be built.
func (l Limits) inputs(ctx context.Context, fsys fs.FS) ([]string, error) {
	inner, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	roots, problems := check(inner, fsys, ".")
	var names []string
	var err error
	if len(problems) == 0 {
		names, err = below(inner, fsys, roots)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case inner.Err() != nil:
		return nil, l.explain(exitTime, "", true, "")
	case len(problems) > 0:
		return nil, refused(problems)
	}
	return names, err
}

// refused is the error of kustomizations that are not built.
func refused(problems []string) error {
	err := fault.New(fault.InvalidArgument, "the kustomization cannot be built").
		WithHint("everything that it refers to has to be in the bundle, as files: `kustomize localize` puts it " +
			"there; what is above its directory is in a bundle that is given as SOURCE//DIRECTORY")
	if len(problems) == 1 {
		return err.WithDetail(problems[0])
	}
	err.Problems = problems
	return err
}

// below are the files in the directories of kustomizations, to which these are confined.
func below(ctx context.Context, fsys fs.FS, roots []string) (names []string, err error) {
	total := int64(0)
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err := cmp.Or(err, ctx.Err()); err != nil || entry.IsDir() || !isBelow(name, roots) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if total += info.Size(); total > maxInput {
			return fault.New(fault.InvalidArgument, "the directories of the kustomization have more than %d MiB",
				maxInput>>20).
				WithHint("leave out what it does not refer to")
		}
		names = append(names, name)
		return nil
	})
	return names, err
}

// isBelow says whether a file is in one of some directories.
func isBelow(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir == "." || strings.HasPrefix(name, dir+"/")
	})
}

// work has a process of its own build the files, in the time that is left.
func work(ctx context.Context, fsys fs.FS, names []string, limits Limits, left time.Duration) ([]byte, error) {
	if isWorker() {
		return nil, fault.New(fault.Internal, "a process that builds a kustomization cannot start another one")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fault.New(fault.Failed, "the kustomization cannot be built: %w", err)
	}
	// The process ends itself; that it is ended is for one that cannot.
	inner, cancel := context.WithTimeout(ctx, left+time.Second)
	defer cancel()
	cmd := exec.CommandContext(inner, self)
	cmd.Args = []string{
		workerName, left.String(), strconv.FormatInt(limits.Memory, 10), strconv.Itoa(limits.Output),
	}
	cmd.Env, cmd.WaitDelay = []string{}, time.Second
	tie(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &bounded{&out, limits.Output + 1}, &bounded{&said, maxSaid}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fault.New(fault.Failed, "the kustomization cannot be built: %w", err)
	}
	if err := cmd.Start(); err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, fault.New(fault.Failed, "the process that builds kustomizations cannot be started: %w", err)
	}
	unread := send(in, fsys, names)
	_ = in.Close()
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case unread != nil:
		return nil, unread
	case err == nil:
		return out.Bytes(), nil
	}
	ended := cmd.ProcessState
	return nil, limits.explain(ended.ExitCode(), ended.String(), inner.Err() != nil, said.String())
}

// send writes files as a tar file. The error is that of a file which cannot be read: a process that does not take them
// says by itself why.
func send(to io.Writer, fsys fs.FS, names []string) error {
	w := tar.NewWriter(to)
	for _, name := range names {
		text, err := readFile(fsys, name, maxInput)
		if err != nil {
			return fault.New(fault.InvalidArgument, "read %s of the bundle: %w", name, err)
		}
		err = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o444})
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			return nil //nolint:nilerr // it has ended
		}
	}
	_ = w.Close()
	return nil
}

// The fault reasons of a build that was ended.
const (
	ReasonTime   = "KUSTOMIZE_TIME"
	ReasonMemory = "KUSTOMIZE_MEMORY"
)

// maxSaid is how much is read of what the process says, in bytes.
const maxSaid = 16 << 10

// explain says why nothing was built, by how the process has ended: with a status, or as the system says it.
func (l Limits) explain(status int, ended string, late bool, said string) error {
	switch {
	case late, status == exitTime:
		return fault.New(fault.Failed, "the kustomization was not built within %s", l.Time).WithReason(ReasonTime).
			WithHint("make it smaller, or build it with `kustomize build` and install what that prints")
	case status == exitMemory:
		return fault.New(fault.InvalidArgument, "the kustomization takes more than %d MiB to build", l.Memory>>20).
			WithReason(ReasonMemory).
			WithHint("make it smaller, or build it with `kustomize build` and install what that prints")
	case status == exitOutput:
		return fault.New(fault.InvalidArgument, "the objects of the kustomization are larger than %d MiB", l.Output>>20)
	case status == exitInvalid:
		return refused([]string{fault.Line(strings.ReplaceAll(said, root+"/", ""))})
	}
	return died(ended, said)
}

// died explains the end of a process that did not end itself. What it says is then a trace of it, which is left out.
func died(ended, said string) error {
	switch {
	case strings.Contains(said, "stack overflow") || strings.Contains(said, "goroutine stack exceeds"):
		return fault.New(fault.InvalidArgument,
			"the kustomization cannot be built: something in it is nested too deep").
			WithHint("make it less deep, or build it with `kustomize build` and install what that prints")
	case strings.HasPrefix(ended, "signal: "):
		return fault.New(fault.Failed, "the process that builds kustomizations was killed (%s)", ended).
			WithHint("there may be too little memory for it: try again, or build the kustomization with " +
				"`kustomize build` and install what that prints")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return fault.New(fault.Failed, "the process that builds kustomizations has failed (%s): %s", ended,
		fault.Line(redactURLs(first)))
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	to   *bytes.Buffer
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	b.to.Write(p[:min(len(p), b.most-b.to.Len())])
	return len(p), nil
}
