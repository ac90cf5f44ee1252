package sigstore_test

import (
	"crypto"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/theupdateframework/go-tuf/v2/metadata"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/bundle/sigstore"
	"github.com/berthdev/berth/internal/bundle/sigstore/sigstoretest"
	"github.com/berthdev/berth/internal/fault"
)

// mirror is a TUF repository as sigstore has one, with a root of its own.
type mirror struct {
	t       *testing.T
	url     string
	root    []byte
	key     ed25519.PrivateKey
	version int64

	mu    sync.Mutex
	files map[string][]byte // nil for no answer
	asked int
}

func newMirror(t *testing.T) *mirror {
	t.Helper()
	m := &mirror{t: t}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked++
		text, ok := m.files[q.URL.Path]
		switch {
		case m.files == nil:
			w.WriteHeader(http.StatusServiceUnavailable)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(text)
		}
	}))
	t.Cleanup(s.Close)
	m.url = s.URL
	m.rekey()
	root := metadata.Root(time.Now().Add(365 * 24 * time.Hour))
	for _, role := range []string{metadata.ROOT, metadata.TIMESTAMP, metadata.SNAPSHOT, metadata.TARGETS} {
		key, err := metadata.KeyFromPublicKey(m.key.Public())
		m.check(err)
		m.check(root.Signed.AddKey(key, role))
	}
	m.root = signedWith(m, root)
	return m
}

func (m *mirror) check(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// rekey has everything signed with another key from then on, which is not in the root.
func (m *mirror) rekey() {
	_, key, err := ed25519.GenerateKey(nil)
	m.check(err)
	m.key = key
}

func signedWith[T metadata.Roles](m *mirror, of *metadata.Metadata[T]) []byte {
	m.t.Helper()
	signer, err := signature.LoadSigner(m.key, crypto.Hash(0))
	m.check(err)
	_, err = of.Sign(signer)
	m.check(err)
	text, err := of.ToBytes(false)
	m.check(err)
	return text
}

// publish puts the trusted root of a sigstore there, with a timestamp that is good for a time.
func (m *mirror) publish(s *sigstoretest.Sigstore, good time.Duration) {
	m.t.Helper()
	m.version++
	year, text := time.Now().Add(365*24*time.Hour), s.Root()
	file, err := metadata.TargetFile().FromBytes("trusted_root.json", text, "sha256")
	m.check(err)
	targets, snapshot := metadata.Targets(year), metadata.Snapshot(year)
	timestamp := metadata.Timestamp(time.Now().Add(good))
	targets.Signed.Targets["trusted_root.json"] = file
	targets.Signed.Version, snapshot.Signed.Version, timestamp.Signed.Version = m.version, m.version, m.version
	snapshot.Signed.Meta["targets.json"] = metadata.MetaFile(m.version)
	timestamp.Signed.Meta["snapshot.json"] = metadata.MetaFile(m.version)
	number := strconv.FormatInt(m.version, 10)
	m.serve(map[string][]byte{
		"/timestamp.json": signedWith(m, timestamp), "/" + number + ".snapshot.json": signedWith(m, snapshot),
		"/" + number + ".targets.json":                                      signedWith(m, targets),
		"/targets/" + file.Hashes["sha256"].String() + ".trusted_root.json": text,
	})
}

func (m *mirror) serve(files map[string][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = files
}

// requests is how many have come.
func (m *mirror) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// verified says by whom a sigstore has signed, as of what is trusted.
func verified(t *testing.T, r *sigstore.Root, s *sigstoretest.Sigstore) error {
	t.Helper()
	material, err := r.Trusted(t.Context())
	if err != nil {
		return err
	}
	signed, err := sigstore.FromBundle(s.Marshal(s.Bundle([]byte("x"), sigstoretest.Signing{})))
	if err != nil {
		t.Fatal(err)
	}
	_, err = sigstore.Verify(signed, material)
	return err
}

const day = 24 * time.Hour

// The public root is fetched as TUF has it: from the root that is linked, over what names each next file, to the
// trusted root. It is kept for a day, between runs as well if there is a directory for it; then another one counts
// instead.
func TestPublicRoot(t *testing.T) {
	for name, dir := range map[string]string{"in memory": "", "in a directory": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			m, s, next := newMirror(t), sigstoretest.New(t), sigstoretest.New(t)
			m.publish(s, day)
			r := sigstore.PublicRootOf(m.url, m.root, dir, "trusted-root")
			if r.Sum() != "unknown" {
				t.Errorf("%s is known before it is fetched", r.Sum())
			}
			if err := verified(t, r, s); err != nil {
				t.Fatal(err)
			}
			if err := verified(t, r, next); err == nil || !strings.Contains(err.Error(), "in no log that is trusted") {
				t.Errorf("%v", err)
			}
			sum, asked := r.Sum(), m.requests()
			if fixed, err := sigstore.ReadRoot(s.Root(), "x"); err != nil || len(sum) != len(fixed.Sum()) {
				t.Errorf("%s, %v", sum, err)
			}
			again := sigstore.PublicRootOf(m.url, m.root, dir, "trusted-root")
			if (again.Sum() == sum) != (dir != "") {
				t.Errorf("the next run knows %s, and not %s", again.Sum(), sum)
			}
			if err := verified(t, again, s); err != nil {
				t.Error(err)
			}
			if m.requests() == asked != (dir != "") {
				t.Errorf("%d requests, then %d", asked, m.requests())
			}
			m.publish(next, day)
			forgetDay(t, dir)
			r.Pass(day)
			if err := verified(t, r, next); err != nil || r.Sum() == sum {
				t.Errorf("%v, %s", err, r.Sum())
			}
			if err := verified(t, r, s); err == nil {
				t.Error("what is not in the root any more counts")
			}
		})
	}
}

// forgetDay lets a day pass for what TUF keeps in a directory.
func forgetDay(t *testing.T, dir string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "sigstore", "127.0.0.1-*.json"))
	if err != nil || dir != "" && len(all) != 1 {
		t.Fatal(all, err)
	}
	for _, file := range all {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// Where the next root has expired, or there is no answer, the old one counts for a week, and that is said: as cosign
// has it. One that is not sigstore's is no reason to go on. A run without an old one has none.
func TestPublicRootThatIsNotRenewed(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*mirror, *sigstoretest.Sigstore)
		says string
		kept bool
	}{
		"expired": {
			func(m *mirror, s *sigstoretest.Sigstore) { m.publish(s, -time.Minute) }, "timestamp.json is expired", true,
		},
		"no answer": {func(m *mirror, _ *sigstoretest.Sigstore) { m.serve(nil) }, "503", true},
		"with another key": {
			func(m *mirror, s *sigstoretest.Sigstore) { m.rekey(); m.publish(s, day) }, "Verifying timestamp failed",
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := newMirror(t), sigstoretest.New(t)
			m.publish(s, day)
			dir := t.TempDir()
			r := sigstore.PublicRootOf(m.url, m.root, dir, "trusted-root")
			if err := verified(t, r, s); err != nil {
				t.Fatal(err)
			}
			test.do(m, s)
			forgetDay(t, dir)
			r.Pass(day)
			var logged []string
			log := funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{})
			trusted, err := r.Trusted(klog.NewContext(t.Context(), log))
			said := strings.Contains(strings.Join(logged, ""), test.says)
			if (trusted != nil) != test.kept || (err == nil) != test.kept || said != test.kept {
				t.Errorf("%t, %v, logged %q", trusted != nil, err, logged)
			}
			if test.kept {
				r.Pass(6*day + time.Hour)
				_, err = r.Trusted(t.Context())
			}
			if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), test.says) {
				t.Errorf("after a week: %v", err)
			}
			err = verified(t, sigstore.PublicRootOf(m.url, m.root, "", "trusted-root"), s)
			if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), test.says) {
				t.Errorf("without an old one: %v", err)
			}
		})
	}
}
