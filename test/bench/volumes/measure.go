//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	bolt "go.etcd.io/bbolt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	aimRatio  = 3.0
	aimRound  = 50 * time.Millisecond
	aimMemory = 40 << 20

	interval = time.Second // between two rounds; more often than the driver does it unless it is told
)

type measurement struct {
	options
	dir  string
	node csi.NodeClient
}

type row struct {
	what, got, aim string
	missed         bool
}

func (m *measurement) run(ctx context.Context) error {
	for i := range m.queued {
		if err := os.MkdirAll(filepath.Join(m.dir, "work", fmt.Sprintf("pod-%d", i), fmt.Sprintf("csi-%064d", i)),
			0o700); err != nil {
			return err
		}
	}
	driver, err := m.start(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = driver.Process.Signal(syscall.SIGTERM)
		_ = driver.Wait()
	}()
	beside, err := m.commits()
	if err != nil {
		return err
	}
	defer func() { _ = beside.Close() }()
	rows, err := m.pairs(ctx, beside)
	if err != nil {
		return err
	}
	quiet, err := m.nothing(driver.Process.Pid)
	if err != nil {
		return err
	}
	return show(append(rows, quiet...), m.strict)
}

// start starts the driver, which queues the directories that it finds.
func (m *measurement) start(ctx context.Context) (*exec.Cmd, error) {
	socket := filepath.Join(m.dir, "csi.sock")
	driver := exec.CommandContext(ctx, m.berth, "serve", "volumes", "--node", "n", "--directory",
		filepath.Join(m.dir, "work"), "--kubelet-directory", filepath.Join(m.dir, "kubelet"),
		"--endpoint", "unix://"+socket, "--headroom", "0", "--prune-interval", interval.String(), "--metrics-listen",
		"127.0.0.1:0")
	var said bytes.Buffer
	driver.Stderr = &said
	if err := driver.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("the driver does not listen: %s", said.String()), driver.Process.Kill())
		}
	}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	m.node = csi.NewNodeClient(conn)
	return driver, m.settled(driver.Process.Pid)
}

// settled waits until the driver does nothing but its rounds: it measures what it has found.
func (m *measurement) settled(pid int) error {
	for {
		before, err := cpu(pid)
		if err != nil {
			return err
		}
		time.Sleep(time.Second)
		after, err := cpu(pid)
		if err != nil || after-before < 100*time.Millisecond {
			return err
		}
	}
}

// commits is a database of as many records on the same disk.
func (m *measurement) commits() (*bolt.DB, error) {
	db, err := bolt.Open(filepath.Join(m.dir, "bare.db"), 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("records"))
		for i := range m.queued {
			err = errors.Join(err, bucket.Put(fmt.Appendf(nil, "csi-%064d", i), bytes.Repeat([]byte("x"), 300)))
		}
		return err
	})
	return db, err
}

// pairs publishes and unpublishes, in turn with bare commits, so that a busy moment hits all.
func (m *measurement) pairs(ctx context.Context, beside *bolt.DB) ([]row, error) {
	var bare, publish, unpublish []time.Duration
	for i := range m.rounds {
		id, target := fmt.Sprintf("csi-bench-%d", i), filepath.Join(m.dir, "pods", strconv.Itoa(i), "mount")
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return nil, err
		}
		for _, step := range []struct {
			took *[]time.Duration
			do   func() error
		}{
			{&bare, func() error {
				return beside.Update(func(tx *bolt.Tx) error {
					return tx.Bucket([]byte("records")).Put([]byte(id), bytes.Repeat([]byte("x"), 300))
				})
			}},
			{&publish, func() error { return m.publish(ctx, id, target) }},
			{&unpublish, func() error {
				_, err := m.node.NodeUnpublishVolume(ctx, &csi.NodeUnpublishVolumeRequest{
					VolumeId:   id,
					TargetPath: target,
				})
				return err
			}},
		} {
			begun := time.Now()
			if err := step.do(); err != nil {
				return nil, err
			}
			*step.took = append(*step.took, time.Since(begun))
		}
	}
	base := median(bare)
	rows := []row{{what: "a bare durable commit, beside", got: base.Round(time.Microsecond).String()}}
	for _, r := range []struct {
		what string
		took []time.Duration
	}{{"publish", publish}, {"unpublish", unpublish}} {
		took := median(r.took)
		ratio := float64(took) / float64(base)
		rows = append(rows, row{
			r.what, fmt.Sprintf("%s, %.2f times that", took.Round(time.Microsecond), ratio),
			fmt.Sprintf("%.0f times", aimRatio), ratio > aimRatio,
		})
	}
	return rows, nil
}

func (m *measurement) publish(ctx context.Context, id, target string) error {
	_, err := m.node.NodePublishVolume(ctx, &csi.NodePublishVolumeRequest{
		VolumeId: id, TargetPath: target,
		VolumeCapability: &csi.VolumeCapability{
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		},
		VolumeContext: map[string]string{
			"csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.uid": "pod-" + id,
			"csi.storage.k8s.io/pod.name": "web", "csi.storage.k8s.io/pod.namespace": "team",
		},
	})
	return err
}

// nothing is what the driver takes while nothing happens.
func (m *measurement) nothing(pid int) ([]row, error) {
	if err := m.settled(pid); err != nil {
		return nil, err
	}
	before, err := cpu(pid)
	if err != nil {
		return nil, err
	}
	time.Sleep(m.quiet)
	after, err := cpu(pid)
	if err != nil {
		return nil, err
	}
	round := (after - before) / (m.quiet / interval)
	memory, err := anonymous(pid)
	if err != nil {
		return nil, err
	}
	return []row{
		{
			fmt.Sprintf("processor time of a round over %d", m.queued), round.Round(10 * time.Microsecond).String(),
			aimRound.String(), round > aimRound,
		},
		{
			"anonymous memory", fmt.Sprintf("%.1f MiB", float64(memory)/(1<<20)), fmt.Sprintf("%d MiB", aimMemory>>20),
			memory > aimMemory,
		},
	}, nil
}

// cpu is the processor time of a process so far.
func cpu(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] { // user and system, in hundredths of a second
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// anonymous is the memory of a process that is not of files.
func anonymous(pid int) (bytes int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			_, err := fmt.Sscanf(value, "%d kB", &bytes)
			return bytes << 10, err
		}
	}
	return 0, errors.New("the kernel does not say RssAnon")
}

func median(values []time.Duration) time.Duration {
	slices.Sort(values)
	return values[len(values)/2]
}

func show(rows []row, strict bool) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	missed := 0
	for _, r := range rows {
		verdict := ""
		if r.missed {
			verdict = "MISSED"
			missed++
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", r.what, r.got, r.aim, verdict)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if strict && missed > 0 {
		return fmt.Errorf("%d aims are missed", missed)
	}
	return nil
}
