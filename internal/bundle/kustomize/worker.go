package kustomize

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
)

// workerName is what a worker is called in lists of processes, and how it knows that it is one.
const workerName = "berth-kustomize"

// How a worker ends.
const (
	exitInvalid = 10 + iota // the kustomization cannot be built: standard error says why
	exitTime
	exitMemory
	exitOutput
)

func isWorker() bool { return len(os.Args) > 0 && os.Args[0] == workerName }

// Worker builds a kustomization, and ends the process, if it was started for that. What a program does that builds
// kustomizations, tests included, begins with it.
func Worker(exit func(status int)) {
	if isWorker() {
		exit(serve(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, exit)) //nolint:forbidigo // pipes, and no terminal
	}
}

// serve is the work of a worker.
func serve(args []string, in io.Reader, out, say io.Writer, exit func(status int)) int {
	limits, err := readLimits(args)
	if err != nil {
		fmt.Fprintln(say, err)
		return exitInvalid
	}
	confine(limits, exit)
	text, err := build(in)
	switch {
	case err != nil:
		fmt.Fprintln(say, err)
		return exitInvalid
	case len(text) > limits.Output:
		return exitOutput
	}
	if _, err := out.Write(text); err != nil {
		fmt.Fprintln(say, err)
		return exitInvalid
	}
	return 0
}

func readLimits(args []string) (l Limits, err error) {
	if len(args) != 3 {
		return l, fmt.Errorf("%d limits", len(args))
	}
	var fromTime, fromMemory, fromOutput error
	l.Time, fromTime = time.ParseDuration(args[0])
	l.Memory, fromMemory = strconv.ParseInt(args[1], 10, 64)
	l.Output, fromOutput = strconv.Atoi(args[2])
	return l, errors.Join(fromTime, fromMemory, fromOutput)
}

// confine takes from the process what a kustomization is not to have: the network, programs, and more than its limits.
func confine(limits Limits, exit func(status int)) {
	log.SetOutput(io.Discard) // what the library warns of
	http.DefaultTransport = offline{}
	os.Clearenv() // no program is found without PATH
	debug.SetMaxStack(64 << 20)
	debug.SetMemoryLimit(limits.Memory / 4 * 3) // collects more often before it gives up
	time.AfterFunc(limits.Time, func() { exit(exitTime) })
	go func() {
		taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(2 * time.Millisecond) {
			metrics.Read(taken)
			if int64(taken[0].Value.Uint64()-taken[1].Value.Uint64()) > limits.Memory {
				exit(exitMemory)
			}
		}
	}()
}

// offline sends no request.
type offline struct{}

// RoundTrip implements http.RoundTripper.
func (offline) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s would be fetched, and nothing is", redactURLs(r.URL.String()))
}

// build makes objects of the kustomization that is at the root of a tar file.
func build(in io.Reader) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize has failed: %v", p)
		}
	}()
	all := &tree{files: map[string][]byte{}, dirs: map[string][]string{}}
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		all.add(header.Name, content)
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(all, root)
	if err != nil {
		return nil, errors.New(strings.TrimSpace(all.withoutSecrets(err.Error())))
	}
	return objects.AsYaml()
}
