package admin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
)

// node is a driver's.
type node struct {
	picture volume.Picture
	archive func(ctx context.Context, to io.Writer) error
	err     error
	purged  []string
}

func (n *node) Picture(context.Context) (volume.Picture, error) { return n.picture, n.err }

func (n *node) Archive(ctx context.Context, id string, to io.Writer) error {
	if id != "csi-1" {
		return fault.New(fault.NotFound, "volume %s is not in its afterlife", id).WithHint("list them")
	}
	return n.archive(ctx, to)
}

func (n *node) Purge(_ context.Context, id string) error {
	n.purged = append(n.purged, id)
	return n.err
}

// served is a node behind its socket.
type served struct {
	admin.Client
	mu      sync.Mutex
	audited []admin.Audited
	stop    func() error
}

func (s *served) audits() []admin.Audited {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.audited
}

func serve(t *testing.T, n volume.Node) *served {
	t.Helper()
	s := &served{Client: admin.Client{Socket: admin.Path(t.TempDir()), User: "alice"}}
	l, err := net.Listen("unix", s.Socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- admin.Serve(ctx, l, admin.Config{Node: n, Now: time.Now, Audit: func(a admin.Audited) {
			s.mu.Lock()
			defer s.mu.Unlock()
			a.Took = 0
			s.audited = append(s.audited, a)
		}})
	}()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// What a node has comes through the socket as it is.
func TestPicture(t *testing.T) {
	at := time.Date(2026, 11, 23, 7, 0, 0, 5, time.UTC)
	want := volume.Picture{
		Node: "n1", Now: at, Factor: 0.25, Free: 1 << 40, Total: 1 << 42, Headroom: 0.1, Used: 3,
		Volumes: []volume.Volume{{
			ID: "csi-1", Namespace: "dev", Pod: "alice-1", PodUID: "u", Workspace: "alice-1", UserString: "alice~\n",
			Storage:   "build",
			Published: at, Deleted: at, Lifespan: 6 * time.Hour, Bytes: -1, Inodes: 7, Failure: "busy",
		}},
	}
	s := serve(t, &node{picture: want})
	got, err := s.Picture(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if a := s.audits(); len(a) > 0 {
		t.Errorf("a list is audited: %+v", a)
	}
}

// An archive comes whole, and is audited with who the client says that it is.
func TestArchive(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	s := serve(t, &node{archive: func(_ context.Context, to io.Writer) error {
		_, err := io.Copy(to, bytes.NewReader(content))
		return err
	}})
	var got bytes.Buffer
	if err := s.Archive(t.Context(), "csi-1", &got); err != nil || !bytes.Equal(got.Bytes(), content) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	want := []admin.Audited{{Did: "restore", Volume: "csi-1", Claimed: "alice", Bytes: 1 << 20}}
	if diff := cmp.Diff(want, s.audits()); diff != "" {
		t.Error(diff)
	}
}

// How an archive has failed is known however long the names in it are: what follows an
// answer has a limit of its own.
func TestLongFailure(t *testing.T) {
	s := serve(t, &node{archive: func(_ context.Context, to io.Writer) error {
		_, _ = to.Write([]byte("half"))
		long := fault.New(fault.Failed, "file %s cannot be read", strings.Repeat("\x01", 10_000)).
			WithHint("look: %s", strings.Repeat("h", 5_000))
		long.Problems = []string{strings.Repeat("p", 5_000)}
		return long
	}})
	if err := s.Archive(t.Context(), "csi-1", io.Discard); fault.CodeOf(err) != fault.Failed {
		t.Errorf("it says %v", err)
	}
}

// Errors keep their code, their message and their hint, before anything was sent and
// after.
func TestFailures(t *testing.T) {
	n := &node{archive: func(_ context.Context, to io.Writer) error {
		_, _ = to.Write([]byte("half"))
		return fault.New(fault.Failed, "file %s cannot be read", "a").WithHint("look")
	}}
	s := serve(t, n)
	var got bytes.Buffer
	archived := s.Archive(t.Context(), "csi-1", &got)
	if got.String() != "half" {
		t.Errorf("%q", got.String())
	}
	n.err = fault.New(fault.Conflict, "it is being restored")
	_, listed := s.Picture(t.Context())
	for _, c := range []struct {
		got           error
		code          fault.Code
		message, hint string
	}{
		{archived, fault.Failed, "file a cannot be read", "look"},
		{listed, fault.Conflict, "it is being restored", ""},
		{s.Archive(t.Context(), "csi-2", &got), fault.NotFound, "volume csi-2 is not in its afterlife", "list them"},
		{s.Purge(t.Context(), "csi-2"), fault.Conflict, "it is being restored", ""},
		{s.Purge(t.Context(), ""), fault.InvalidArgument, "the ID of the volume is empty", ""},
		{s.Purge(t.Context(), ".."), fault.InvalidArgument, `".." is not the ID of a volume`, ""},
		{s.Purge(t.Context(), "../csi-1"), fault.InvalidArgument, `"../csi-1" is not the ID of a volume`, ""},
	} {
		f := fault.From(c.got)
		if f.Code != c.code || f.Message != c.message || f.Hint != c.hint {
			t.Errorf("%+v, want %+v", f, c)
		}
	}
	if diff := cmp.Diff([]string{"csi-2"}, n.purged); diff != "" {
		t.Errorf("purged %s", diff)
	}
	var codes []fault.Code
	for _, a := range s.audits() {
		codes = append(codes, fault.CodeOf(a.Err))
	}
	if diff := cmp.Diff([]fault.Code{
		"FAILED", "NOT_FOUND", "CONFLICT", "INVALID_ARGUMENT", "INVALID_ARGUMENT",
		"INVALID_ARGUMENT",
	}, codes); diff != "" {
		t.Errorf("audited %s", diff)
	}
}

// A driver that ends takes what it sends with it, and the client hears of it.
func TestEndOfTheDriver(t *testing.T) {
	begun := make(chan struct{})
	s := serve(t, &node{archive: func(ctx context.Context, to io.Writer) error {
		_, _ = to.Write(make([]byte, 1<<20))
		close(begun)
		<-ctx.Done()
		return context.Cause(ctx)
	}})
	ended := make(chan error, 1)
	go func() { ended <- s.Archive(t.Context(), "csi-1", io.Discard) }()
	<-begun
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if err := <-ended; fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if err := s.Purge(t.Context(), "csi-1"); fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), s.Socket) {
		t.Error(err)
	}
}

// An audit line says that the user is a claim, and stays one line.
func TestAuditLine(t *testing.T) {
	var b bytes.Buffer
	a := admin.Audited{Did: admin.Purge, Volume: "csi-1\n", Claimed: "alice\n{}", Err: errors.New("no\nway")}
	a.Log(slog.New(slog.NewJSONHandler(&b, nil)))
	for _, want := range []string{`"msg":"audit","did":"purge","volume":"csi-1 ","claimedUser":"alice ` +
		`{}","bytes":0,"took":0,"error":"no way"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %s", b.String(), want)
		}
	}
}
