package server_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/read"
	"github.com/berthdev/berth/internal/volume/read/server"
)

// cluster answers reviews: a token "of-NAME" is that of NAME, who may do what is in the set.
type cluster struct {
	authentication.TokenReviewInterface
	authorization.SubjectAccessReviewInterface
	may map[string]bool
}

type tokens struct{ *cluster }

func (c *cluster) TokenReviews() authentication.TokenReviewInterface { return tokens{c} }

func (c tokens) Create(_ context.Context, r *authenticationv1.TokenReview, _ metav1.CreateOptions,
) (*authenticationv1.TokenReview, error) {
	if name, ok := strings.CutPrefix(r.Spec.Token, "of-"); ok {
		r.Status.Authenticated, r.Status.User.Username = true, name
	}
	return r, nil
}

type accesses struct{ *cluster }

func (c *cluster) SubjectAccessReviews() authorization.SubjectAccessReviewInterface {
	return accesses{c}
}

func (c accesses) Create(_ context.Context, r *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions,
) (*authorizationv1.SubjectAccessReview, error) {
	a := r.Spec.ResourceAttributes
	if a.Group == "berth.dev" && a.Resource == "scratchvolumes" {
		who := r.Spec.User + " " + a.Verb + " " + a.Namespace
		r.Status.Allowed = c.may[who] || a.Name != "" && c.may[who+"/"+a.Name]
	}
	return r, nil
}

// node is a driver with directories of this machine; what is removed is so when it is read.
type node struct {
	volumes []volume.Volume
	dir     string
	removed map[string]bool
	during  func(id string, cancel context.CancelCauseFunc)
}

func (n *node) Picture(context.Context) (volume.Picture, error) {
	return volume.Picture{Node: "n1", Volumes: n.volumes}, nil
}

func (n *node) Find(id string) (volume.Volume, bool) {
	for _, v := range n.volumes {
		if v.ID == id {
			return v, true
		}
	}
	return volume.Volume{}, false
}

var errRemoved = fault.New(fault.NotFound, "volume gone was removed").WithReason(volume.ReasonRemoved)

func (n *node) Read(ctx context.Context, id string, do func(context.Context, volume.Files) error) error {
	if n.removed[id] {
		return errRemoved
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if n.during != nil {
		n.during(id, cancel)
	}
	if err := do(ctx, files{filepath.Join(n.dir, id)}); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

type files struct{ dir string }

func (f files) List(context.Context, string) (volume.Listing, error) {
	return volume.Listing{Entries: []volume.Entry{{Name: "a", Kind: volume.KindFile}}}, nil
}

func (f files) Open(path string) (*os.File, error) {
	file, err := os.OpenInRoot(f.dir, path)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "it leads out")
	}
	return file, nil
}

func (f files) Archive(_ context.Context, _ string, to io.Writer) error {
	_, err := io.WriteString(to, "a tar")
	return err
}

// rig is a server, its log, and what it is asked with.
type rig struct {
	*testing.T
	node *node
	log  *bytes.Buffer
	http *httptest.Server
}

func newRig(t *testing.T, may ...string) *rig {
	t.Helper()
	c := &cluster{may: map[string]bool{}}
	for _, what := range may {
		c.may[what] = true
	}
	r := &rig{T: t, log: &bytes.Buffer{}, node: &node{dir: t.TempDir(), removed: map[string]bool{"gone": true}}}
	for _, v := range []volume.Volume{
		{ID: "mine", Namespace: "team", Pod: "web", Workspace: "alice-1"},
		{ID: "plain", Namespace: "team", Pod: "job-7"},
		{ID: "other", Namespace: "lab", Pod: "x"},
		{ID: "stray"},
		{ID: "gone", Namespace: "team", Pod: "web", Workspace: "alice-1"},
	} {
		r.node.volumes = append(r.node.volumes, v)
		if err := os.Mkdir(filepath.Join(r.node.dir, v.ID), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.node.dir, v.ID, "a"), []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &server.Server{Node: r.node, Guard: &serve.Guard{
		Authenticator: serve.NewAuthenticator(c, serve.DefaultLimits(), time.Now),
		Authorizer:    serve.NewAuthorizer(c, time.Now), Limits: serve.NewLimiter(serve.DefaultLimits(), time.Now),
		Log: serve.NewLog(r.log, false, slog.LevelInfo), Now: time.Now,
	}}
	r.http = httptest.NewTLSServer(s.Handler())
	t.Cleanup(r.http.Close)
	return r
}

const base = "/apis/berth.dev/v1/namespaces/"

// get asks as somebody.
func (r *rig) get(user, path string) (int, string) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.http.URL+base+path, http.NoBody)
	if err != nil {
		r.Fatal(err)
	}
	if user != "" {
		request.Header.Set("Authorization", "Bearer of-"+user)
	}
	answer, err := r.http.Client().Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

// What may be read is decided by the namespace, and the workspace or pod, of the driver's record, whatever the client
// says.
func TestWhoMayRead(t *testing.T) {
	r := newRig(t, "all list team", "all get team", "one get team/alice-1", "one list team/alice-1",
		"job get team/job-7", "lab get lab", "lab list lab", "lists list team")
	for _, c := range []struct {
		user, path string
		want       int
		says       string
	}{
		{"", "team/scratchvolumes", 401, ""},
		{"nobody", "team/scratchvolumes", 403, "nobody may not list scratchvolumes.berth.dev"},
		{"all", "team/scratchvolumes", 200, `"mine"`},
		{"all", "lab/scratchvolumes", 403, ""},
		{"one", "team/scratchvolumes", 403, ""},
		{"one", "team/scratchvolumes?name=alice-1", 200, `"mine"`},
		{"one", "team/scratchvolumes?name=job-7", 403, ""},
		{"all", "team/scratchvolumes/mine/file?path=a", 200, "0123456789"},
		{"one", "team/scratchvolumes/mine/file?path=a", 200, "0123456789"},
		{"one", "team/scratchvolumes/mine/list", 200, `"a"`},
		{"one", "team/scratchvolumes/mine/archive", 200, "a tar"},
		{"one", "team/scratchvolumes/plain/file?path=a", 403, ""},
		{"job", "team/scratchvolumes/plain/file?path=a", 200, "0123456789"},
		{"job", "team/scratchvolumes/mine/file?path=a", 403, ""},
		{"lists", "team/scratchvolumes/mine/file?path=a", 403, ""},
		{"lab", "team/scratchvolumes/mine/file?path=a", 403, ""},
		{"lab", "lab/scratchvolumes/mine/file?path=a", 404, "volume mine not found on this node"},
		{"lab", "lab/scratchvolumes/stray/file?path=a", 404, "not found"},
		{"one", "team/scratchvolumes/none/file?path=a", 403, "one may not get"},
		{"all", "team/scratchvolumes/none/file?path=a", 404, "not found"},
		{"all", "team/scratchvolumes/gone/file?path=a", 410, "volume gone was removed"},
		{"nobody", "team/scratchvolumes/gone/file?path=a", 403, ""},
		{"all", "team/scratchvolumes/mine/file?path=../other/a", 400, "it leads out"},
	} {
		if got, text := r.get(c.user, c.path); got != c.want || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.user, c.path, got, text, c.want, c.says)
		}
	}
	_, all := r.get("all", "team/scratchvolumes")
	_, one := r.get("one", "team/scratchvolumes?name=alice-1")
	for _, other := range []string{`"other"`, `"stray"`} {
		if strings.Contains(all, other) {
			t.Errorf("%s is listed: %s", other, all)
		}
	}
	if strings.Contains(one, "plain") {
		t.Errorf("a volume of another name is listed: %s", one)
	}
	for _, line := range []string{
		`"user":"one","access":"get scratchvolumes.berth.dev job-7 in namespace team","volume":"plain","path":"a",`,
		`"status":403`,
	} {
		if !strings.Contains(r.log.String(), line) {
			t.Errorf("the log lacks %s: %s", line, r.log)
		}
	}
}

func certificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// client is the drivers at this server.
func (r *rig) client(user string) read.Volume {
	r.Helper()
	drivers, err := read.Client{
		URL: strings.Replace(r.http.URL, "127.0.0.1", "example.com", 1),
		Config: func(context.Context) (*rest.Config, error) {
			return &rest.Config{
				Host: r.http.URL, BearerToken: "of-" + user,
				TLSClientConfig: rest.TLSClientConfig{CAData: certificate(r.http)},
			}, nil
		},
		Resolve: func(context.Context, string) ([]net.IP, error) {
			return []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(127, 0, 0, 1)}, nil
		},
	}.Drivers(r.Context())
	if err != nil || len(drivers) != 1 {
		r.Fatalf("%v, %v", drivers, err)
	}
	return read.Volume{Driver: drivers[0], Namespace: "team", ID: "mine"}
}

// Parts of a file are those that were asked for, and what is no part of it is an error.
func TestParts(t *testing.T) {
	r := newRig(t, "all get team")
	v := r.client("all")
	for part, want := range map[read.Span]string{
		"": "0123456789", read.From(7): "789", read.Last(2): "89", read.Last(99): "0123456789", read.Between(0, 0): "0",
		read.Between(8, 99): "89",
	} {
		var got bytes.Buffer
		if err := v.File(t.Context(), "a", part, &got); err != nil || got.String() != want {
			t.Errorf("%q: %q, %v", part, got.String(), err)
		}
	}
	if err := v.File(t.Context(), "a", read.From(10), io.Discard); fault.CodeOf(err) != fault.InvalidArgument ||
		!strings.Contains(err.Error(), "it has 10 bytes") {
		t.Errorf("%v", err)
	}
	if err := r.client("nobody").File(t.Context(), "a", "", io.Discard); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("%v", err)
	}
}

// What is removed while it is read is never taken for whole: the client says that it was removed.
func TestRemovedMeanwhile(t *testing.T) {
	r := newRig(t, "all get team")
	r.node.during = func(id string, cancel context.CancelCauseFunc) {
		r.node.removed[id] = true
		cancel(errRemoved)
	}
	err := r.client("all").File(t.Context(), "a", "", io.Discard)
	if fault.ReasonOf(err) != volume.ReasonRemoved || !strings.Contains(err.Error(), "was removed; what has arrived") {
		t.Errorf("%v", err)
	}
	if !strings.Contains(r.log.String(), `"ended":"`) {
		t.Errorf("the log does not say so: %s", r.log)
	}
}
