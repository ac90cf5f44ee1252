//go:build linux

package driver

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/waittest"
)

// What waits is measured, beside the work, and shown.
func TestMeasure(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	n.write(n.target("v")+"/file", strings.Repeat("x", 1<<20))
	if err := os.Link(n.target("v")+"/file", n.target("v")+"/again"); err != nil {
		t.Fatal(err)
	}
	n.unpublish("v")
	if v := n.one(); v.Bytes != -1 {
		t.Errorf("it takes %d bytes before it is measured", v.Bytes)
	}
	var running sync.WaitGroup
	ctx, stop := testContext(t)
	running.Go(func() { n.Driver.Run(ctx) })
	defer running.Wait()
	defer stop()
	waittest.Until(t, "it is measured", func() bool { return n.one().Bytes >= 1<<20 })
	v := n.one()
	if v.Bytes > 1<<20+64<<10 || v.Inodes != 2 {
		t.Errorf("it takes %d bytes and %d inodes", v.Bytes, v.Inodes)
	}
	if s := n.Status(); s.Bytes != v.Bytes || s.Waiting != 1 || s.Factor != 1 {
		t.Errorf("counted is %+v", s)
	}
}

// What is being read is not removed meanwhile, neither by a round nor by a purge.
func TestArchiveHolds(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	n.clock.add(2 * time.Hour)
	held, ended := make(chan struct{}), make(chan error, 1)
	read, write := io.Pipe()
	go func() {
		err := n.Archive(t.Context(), "v", write)
		write.CloseWithError(err)
		ended <- err
	}()
	first := make([]byte, 1)
	go func() {
		_, _ = io.ReadFull(read, first)
		close(held)
	}()
	<-held
	n.prune()
	n.wantWaiting("v")
	if err := n.Purge(t.Context(), "v"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("purging says %v", err)
	}
	rest, err := io.ReadAll(read)
	if err != nil || <-ended != nil || !bytes.Contains(rest, []byte("of v")) {
		t.Errorf("the archive has %d bytes, %v", len(rest), err)
	}
	n.prune()
	n.wantWaiting("")
}

func TestNode(t *testing.T) {
	n := newNode(t)
	n.publish("used")
	n.gone("v")
	var picture volume.Picture
	picture, err := n.Picture(t.Context())
	if err != nil || picture.Node != "node-1" || picture.Used != 1 || len(picture.Volumes) != 1 || picture.Total <= 0 ||
		picture.Factor != 1 || !picture.Due(picture.Volumes[0]).Equal(time.Unix(1e9+3600, 0)) {
		t.Errorf("the picture is %+v, %v", picture, err)
	}
	for id, want := range map[string]fault.Code{"nobody": fault.NotFound, "used": fault.Conflict, "..": fault.NotFound} {
		if err := n.Purge(t.Context(), id); fault.CodeOf(err) != want {
			t.Errorf("purging %s says %v", id, err)
		}
		if err := n.Archive(t.Context(), id, io.Discard); fault.CodeOf(err) != want {
			t.Errorf("reading %s says %v", id, err)
		}
	}
	if err := n.Purge(t.Context(), "v"); err != nil || n.there(n.data("v")) {
		t.Errorf("purging says %v", err)
	}
	n.wantWaiting("")
}
