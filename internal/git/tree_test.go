package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// taken takes files as content.Builder does.
type taken map[string]string

func (t taken) Add(name string, size int64, r io.Reader) error {
	text, err := io.ReadAll(r)
	if _, twice := t[name]; twice || int64(len(text)) != size {
		return fmt.Errorf("%s: twice, or of another size", name)
	}
	t[name] = string(text)
	return err
}

func (t taken) Link(name, target string) error {
	return t.Add(name, int64(len(target)), strings.NewReader(target))
}

// bundles creates org/bundle: a tag v1, annotated, with deploy/ in a branch and files that are deltas of each other;
// links and a submodule elsewhere.
func bundles(t *testing.T) (root, first string) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, "org", "bundle.git")
	write := func(name, text string, mode os.FileMode) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("README", "x", 0o600)
	run(t, dir, "init", "-q", "-b", "main")
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "%d: %d\n", i, i*7919%1000)
		write(fmt.Sprintf("deploy/manifests/%03d.yaml", i), text.String(), 0o600)
	}
	write("deploy/run.sh", "#!/bin/sh\n", 0o700)
	write("deploy/same", "x", 0o600)
	write("deploy/empty", "", 0o600)
	run(t, dir, "add", "-A")
	run(t, dir, "commit", "-q", "-m", "x")
	run(t, dir, "tag", "-a", "v1", "-m", "x")
	run(t, dir, "branch", "v1") // named like the tag, and then somewhere else
	first = run(t, dir, "rev-parse", "HEAD")
	write("deploy/second", "2", 0o600)
	if err := os.MkdirAll(filepath.Join(dir, "odd"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"odd/link", "link"} {
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	write("linked/a/x", "x", 0o600)
	for link, target := range map[string]string{"linked/b": "a/x", "linked/c": "a", "linked/out": "../../x"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	write("lfs/big.bin", lfsPointer+"oid sha256:4d7a2146\nsize 12345\n", 0o600)
	run(t, dir, "add", "-A")
	run(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+first+",odd/sub")
	run(t, dir, "commit", "-q", "-m", "y")
	run(t, dir, "branch", "-f", "v1", "HEAD")
	run(t, dir, "gc", "-q", "--aggressive")
	return root, first
}

func forTrees(t *testing.T, address string) Remote {
	t.Helper()
	r := remoteAt(t, address)
	r.Dir, r.Silence, r.SameHost, r.Limits.Entries = t.TempDir(), 20*time.Second, true, 1000
	t.Cleanup(func() {
		if left, err := os.ReadDir(r.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return r
}

func filesOf(t *testing.T, r Remote, ref Ref, dir string) (taken, *Snapshot, error) {
	t.Helper()
	s, err := r.FetchRef(t.Context(), ref)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	files := taken{}
	err = s.Files(t.Context(), dir, files)
	return files, s, err
}

func TestFiles(t *testing.T) {
	root, first := bundles(t)
	backend := server(t, root)
	requests := 0
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(plain.Close)
	program(t, "ssh", `shift $(($# - 1)); exec /bin/sh -c "$1"`)
	for _, partial := range []bool{false, true} {
		if partial {
			allowFilter(t, root, "bundle.git")
		}
		for way, address := range map[string]string{"http": plain.URL, "ssh": "ssh://git@git.example.com:2222" + root} {
			for name, test := range map[string]struct {
				ref   Ref
				dir   string
				count int
				code  fault.Code
				says  string
			}{
				"an annotated tag":  {Ref{Tag: "v1"}, "deploy", 303, "", ""},
				"a branch":          {Ref{Branch: "v1"}, "deploy", 304, "", ""},
				"a commit":          {Ref{Commit: first}, "./deploy/", 303, "", ""},
				"the whole":         {Ref{Commit: first}, "", 304, "", ""},
				"the whole, dotted": {Ref{Commit: first}, ".", 304, "", ""},
				"below":             {Ref{Branch: "main"}, "deploy/manifests", 300, "", ""},
				"links":             {Ref{Branch: "main"}, "linked", 4, "", ""},
				"a submodule": {
					Ref{Branch: "main"},
					"odd", 0, fault.InvalidArgument,
					`odd: "sub" is a submodule`,
				},
				"a pointer of LFS": {
					Ref{Branch: "main"},
					"lfs", 0, fault.InvalidArgument,
					`"big.bin" is a pointer of Git LFS`,
				},
				"through a link": {
					Ref{Branch: "main"},
					"link", 0, fault.InvalidArgument,
					"link is a symbolic link, not a directory",
				},
				"a file": {
					Ref{Branch: "main"},
					"README", 0, fault.InvalidArgument,
					"README is a file, not a directory",
				},
				"no directory": {Ref{Branch: "main"}, "nope", 0, fault.NotFound, "there is no directory"},
				"a way up": {
					Ref{Branch: "main"},
					"../x", 0, fault.InvalidArgument,
					"is not a directory of a repository",
				},
				"no branch":    {Ref{Branch: "nope"}, "", 0, fault.NotFound, `has no branch "nope"`},
				"no tag":       {Ref{Tag: "main"}, "", 0, fault.NotFound, `has no tag "main"`},
				"no commit":    {Ref{Commit: strings.Repeat("ab", 20)}, "", 0, fault.NotFound, "or does not send it"},
				"not a commit": {Ref{Commit: "nothing"}, "", 0, fault.NotFound, `has no commit "nothing"`},
			} {
				t.Run(fmt.Sprintf("%s partial=%v %s", way, partial, name), func(t *testing.T) {
					requests = 0
					got, s, err := filesOf(t, forTrees(t, address+"/org/bundle.git"), test.ref, test.dir)
					if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
						t.Fatalf("%s: %v", fault.CodeOf(err), err)
					}
					if err != nil {
						if fault.From(err).Hint == "" {
							t.Error("no hint")
						}
						return
					}
					if len(got) != test.count || len(s.Commit) != 40 || test.ref.Tag != "" && s.Commit != first {
						t.Errorf("%d files of %s", len(got), s.Commit)
					}
					for name, text := range got {
						base := filepath.Join(root, "org", "bundle.git", test.dir, name)
						if target, err := os.Readlink(base); err == nil {
							if target != text {
								t.Errorf("%s leads to %s", name, text)
							}
							continue
						}
						want, err := os.ReadFile(base) //nolint:gosec // the test's own
						if err != nil || string(want) != text {
							t.Errorf("%s: %v", name, err)
						}
					}
					if requests > 4 {
						t.Errorf("%d requests", requests)
					}
				})
			}
		}
	}
	_, _, err := filesOf(t, forTrees(t, plain.URL+"/org/bundle.git"), Ref{Branch: "nope"}, "")
	if hint := fault.From(err).Hint; hint != "it has main, v1" {
		t.Errorf("%q", hint)
	}
	for i := range 7 {
		run(t, filepath.Join(root, "org", "bundle.git"), "branch", fmt.Sprintf("a%d", i))
	}
	_, _, err = filesOf(t, forTrees(t, plain.URL+"/org/bundle.git"), Ref{Branch: "nope"}, "")
	if hint := fault.From(err).Hint; hint != "it has a0, a1, a2, a3, a4 and 4 more" {
		t.Errorf("%q", hint)
	}
}

// treeOf is a tree object: mode, space and name; the hash of what it leads to.
func treeOf(entries ...any) entry {
	var b bytes.Buffer
	for i := 0; i < len(entries); i += 2 {
		hash := entries[i+1].(plumbing.Hash)
		fmt.Fprintf(&b, "%s\x00%s", entries[i], hash[:])
	}
	return entry{kind: plumbing.TreeObject, size: b.Len(), content: b.Bytes()}
}

func hashOf(e entry) plumbing.Hash { return plumbing.ComputeHash(e.kind, e.content) }

func commitOf(tree plumbing.Hash) entry {
	text := "tree " + tree.String() + "\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"
	return entry{kind: plumbing.CommitObject, size: len(text), content: []byte(text)}
}

func blobOf(text string) entry {
	return entry{kind: plumbing.BlobObject, size: len(text), content: []byte(text)}
}

// What git itself would never put into a tree is refused by its name.
func TestHostileTrees(t *testing.T) {
	blob, long := blobOf("x"), blobOf(strings.Repeat("x", maxTarget+1))
	file := func(name string) []any { return []any{"100644 " + name, hashOf(blob)} }
	sub := treeOf(file("a")...)
	bomb := []entry{blob, treeOf(file("a")...)}
	for range 20 {
		below := hashOf(bomb[len(bomb)-1])
		bomb = append(bomb, treeOf("40000 a", below, "40000 b", below))
	}
	deep := []entry{blob, treeOf(file("a")...)}
	for range 70 {
		deep = append(deep, treeOf("40000 d", hashOf(deep[len(deep)-1])))
	}
	var many []any
	for i := range 1001 {
		many = append(many, file(fmt.Sprintf("f%04d", i))...)
	}
	large := blobOf(strings.Repeat("x", 2<<20))
	for name, test := range map[string]struct {
		objects []entry // the last is the tree
		says    string
	}{
		"a way up":         {[]entry{blob, treeOf(file("..")...)}, `".." is not a name of a file`},
		"the directory":    {[]entry{blob, treeOf(file(".")...)}, `"." is not a name`},
		"nothing":          {[]entry{blob, treeOf(file("")...)}, "a directory is not valid: malformed tree"},
		"a path":           {[]entry{blob, treeOf(file("../../etc/passwd")...)}, `"../../etc/passwd" is not a name`},
		"an absolute path": {[]entry{blob, treeOf(file("/etc/passwd")...)}, `"/etc/passwd" is not a name`},
		"a directory up":   {[]entry{blob, sub, treeOf("40000 ..", hashOf(sub))}, `".." is not a name`},
		"git's own": {
			[]entry{blob, sub, treeOf("40000 .git", hashOf(sub))},
			`".git" has the name of git's own directory`,
		},
		"git's own, another": {[]entry{blob, sub, treeOf("40000 .GiT", hashOf(sub))}, `".GiT" has the name`},
		"a backslash":        {[]entry{blob, treeOf(file(`a\b`)...)}, "has a backslash"},
		"a line break":       {[]entry{blob, treeOf(file("a\nb")...)}, "has control characters"},
		"not UTF-8":          {[]entry{blob, treeOf(file("a\xff")...)}, "is not UTF-8"},
		"twice":              {[]entry{blob, treeOf(append(file("a"), file("a")...)...)}, `"a" is there twice`},
		"a file and a tree": {
			[]entry{blob, sub, treeOf(append(file("a"), "40000 a", hashOf(sub))...)},
			`"a" is there twice`,
		},
		"a long link": {
			[]entry{long, treeOf("120000 a", hashOf(long))},
			`"a" is a symbolic link to a path of more`,
		},
		"a large link":     {[]entry{large, treeOf("120000 a", hashOf(large))}, ":a is larger than 1 MiB"},
		"a submodule":      {[]entry{blob, treeOf("160000 a", hashOf(blob))}, `"a" is a submodule`},
		"an unknown mode":  {[]entry{blob, treeOf("20000 a", hashOf(blob))}, "is a submodule"}, // as git takes it
		"a bomb":           {bomb, "has more than 1000 files and directories"},
		"too deep":         {deep, "more than 64 directories"},
		"too many":         {[]entry{blob, treeOf(many...)}, "has more than 1000 files and directories"},
		"a large file":     {[]entry{blob, large, treeOf("100644 a", hashOf(large))}, ":a is larger than 1 MiB"},
		"a missing file":   {[]entry{treeOf(file("a")...)}, "no branch, tag or commit"},
		"a missing tree":   {[]entry{treeOf("40000 d", hashOf(sub))}, "no branch, tag or commit"},
		"a file as a tree": {[]entry{blob, treeOf("40000 d", hashOf(blob))}, "no branch, tag or commit"},
	} {
		t.Run(name, func(t *testing.T) {
			commit := commitOf(hashOf(test.objects[len(test.objects)-1]))
			r := forTrees(t, sends(t, hashOf(commit), packOf(append(test.objects, commit)...)).URL+"/org/proj")
			got, _, err := filesOf(t, r, Ref{Branch: "main"}, "")
			if code := fault.CodeOf(err); code != fault.InvalidArgument && code != fault.NotFound &&
				code != fault.Failed ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v; %v", code, err, slices.Collect(maps.Keys(got)))
			}
		})
	}
}

// A remote that sends another commit than the one it was asked for has not sent it.
func TestAnotherCommit(t *testing.T) {
	blob := blobOf("x")
	tree := treeOf("100644 a", hashOf(blob))
	commit := commitOf(hashOf(tree))
	good := packOf(blob, tree, commit)
	files, _, err := filesOf(t, forTrees(t, sends(t, hashOf(commit), good).URL+"/org/proj"),
		Ref{Commit: hashOf(commit).String()}, "")
	if err != nil || files["a"] != "x" {
		t.Fatalf("%v %v", files, err)
	}
	_, _, err = filesOf(t, forTrees(t, sends(t, hashOf(commit), good).URL+"/org/proj"),
		Ref{Commit: strings.Repeat("ab", 20)}, "")
	if fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
	changed := packOf(blobOf("y"), tree, commit)
	_, _, err = filesOf(t, forTrees(t, sends(t, hashOf(commit), changed).URL+"/org/proj"), Ref{Branch: "main"}, "")
	if fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}

type failing struct{}

var errFull = errors.New("no space")

func (failing) Add(string, int64, io.Reader) error { return errFull }
func (failing) Link(string, string) error          { return errFull }

// What takes the files has its own errors, which are not those of the remote.
func TestFilesAreNotTaken(t *testing.T) {
	root, _ := bundles(t)
	s, err := forTrees(t, "file://"+root+"/org/bundle.git").FetchRef(t.Context(), Ref{Tag: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Files(t.Context(), "deploy", failing{}); !errors.Is(err, errFull) || err.Error() != errFull.Error() {
		t.Error(err)
	}
}

// A remote that falls silent is given up, wherever it does so.
func TestSilence(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().
			Done()
	}))
	t.Cleanup(silent.Close)
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(half.Close)
	program(t, "ssh", "sleep 30")
	for _, address := range []string{
		silent.URL + "/org/proj", half.URL + "/org/proj",
		"ssh://git.example.com/org/proj",
	} {
		r := forTrees(t, address)
		r.Silence = 50 * time.Millisecond
		_, err := r.FetchRef(t.Context(), Ref{Branch: "main"})
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "sent nothing for too long") {
			t.Errorf("%s: %s: %v", address, fault.CodeOf(err), err)
		}
		r.Silence = 20 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := r.FetchRef(ctx, Ref{Branch: "main"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", address, err)
		}
		cancel()
	}
}

// For trees, a redirect to another host is refused; on the same host it is followed.
func TestRedirectElsewhere(t *testing.T) {
	root, _ := bundles(t)
	backend := server(t, root)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request,
	) {
		t.Error("the other host is asked")
	}))
	t.Cleanup(other.Close)
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/old/"):
			http.Redirect(w, r, "/org"+strings.TrimPrefix(r.URL.RequestURI(), "/old"), http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/gone/"):
			http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(home.Close)
	if files, _, err := filesOf(t, forTrees(t, home.URL+"/old/bundle.git"), Ref{Tag: "v1"}, "deploy"); err != nil ||
		len(files) != 303 {
		t.Errorf("%d %v", len(files), err)
	}
	_, _, err := filesOf(t, forTrees(t, home.URL+"/gone/bundle.git"), Ref{Tag: "v1"}, "deploy")
	if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), "redirects to another host") {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
}

func TestProgress(t *testing.T) {
	root, _ := bundles(t)
	plain := httptest.NewServer(server(t, root))
	t.Cleanup(plain.Close)
	r := forTrees(t, plain.URL+"/org/bundle.git")
	var last int64
	r.Progress = func(done int64) { last = done }
	if _, _, err := filesOf(t, r, Ref{Tag: "v1"}, "deploy"); err != nil || last == 0 {
		t.Errorf("%d %v", last, err)
	}
}

// A key and known hosts of a Secret, and nothing else of the user's, lead to a real server; and leave nothing behind.
func TestSSHKey(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		skiptest.Lacks(t, "remotes behind SSH are read with the Debian package openssh-client, which is not installed")
	}
	root, _ := bundles(t)
	mine, signer := key(t)
	otherFile, otherSigner := key(t)
	address := sshServer(t, otherSigner, signer.PublicKey())
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	known := func(key ssh.PublicKey) string {
		return "[" + host + "]:" + port + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	}
	for name, test := range map[string]struct {
		file, known, repository string
		insecure                bool
		code                    fault.Code
		says                    string
	}{
		"success":  {mine, known(otherSigner.PublicKey()), "org/bundle.git", false, "", ""},
		"any host": {mine, "", "org/bundle.git", true, "", ""},
		"another host key": {
			mine, known(signer.PublicKey()), "org/bundle.git", false, fault.Unauthenticated,
			"is not the one that is known",
		},
		"an unknown host": {
			mine, "other.example.com " + known(otherSigner.PublicKey())[len("["+host+"]:"+port+" "):],
			"org/bundle.git", false, fault.Unauthenticated, "is not the one that is known",
		},
		"another key": {
			otherFile, known(otherSigner.PublicKey()), "org/bundle.git", false, fault.Unauthenticated,
			"did not accept the SSH key of secret/git",
		},
		"no repository": {
			mine, known(otherSigner.PublicKey()), "org/none.git", false, fault.NotFound,
			"not visible with the SSH key of secret/git",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			private, err := os.ReadFile(test.file)
			if err != nil {
				t.Fatal(err)
			}
			command, remove, err := SSHKey(bytes.TrimSpace(private), []byte(test.known), test.insecure)
			if err != nil {
				t.Fatal(err)
			}
			r := forTrees(t, "ssh://git@"+address+root+"/"+test.repository)
			r.SSH, r.Key = command, "secret/git"
			files, _, err := filesOf(t, r, Ref{Tag: "v1"}, "deploy")
			if fault.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			if err == nil && len(files) != 303 {
				t.Errorf("%d files", len(files))
			}
			if err != nil && fault.From(err).Hint == "" {
				t.Error("no hint")
			}
			remove()
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// Whatever a tree says, files come out of it with decent names, or an error that the user is told.
func FuzzTree(f *testing.F) {
	blob := blobOf("x")
	hash := hashOf(blob)
	f.Add(treeOf("100644 a", hash, "100755 b", hash).content)
	f.Add(treeOf("120000 a", hash, "160000 b", hash, "40000 c", hash).content)
	f.Add(treeOf("100644 ../x", hash, "100644 ", hash).content)
	f.Add([]byte("100644"))
	f.Fuzz(func(t *testing.T, content []byte) {
		tree := entry{kind: plumbing.TreeObject, size: len(content), content: content}
		o := &objects{left: 1 << 20}
		if err := o.add(t.Context(), inMemory(packOf(blob, tree))); err != nil {
			return
		}
		s := &Snapshot{tree: hashOf(tree), fetcher: &fetcher{
			objects: o,
			remote:  remoteAt(t, "http://127.0.0.1:1/org/proj"),
		}}
		s.fetcher.remote.Limits.Entries = 100
		files := taken{}
		c := &contents{snapshot: s, files: map[plumbing.Hash][]string{}, links: map[plumbing.Hash][]string{}}
		if err := c.list(t.Context()); err != nil {
			return
		}
		for _, all := range []map[plumbing.Hash][]string{c.files, c.links} {
			for h := range all {
				if h != hash {
					return // of something that is not there
				}
			}
		}
		if err := c.give(t.Context(), files); err != nil {
			t.Errorf("%v", err)
		}
		for name, text := range files {
			if text != "x" || strings.Contains(name, "..") && name == ".." || strings.ContainsAny(name, "/\\\x00\n") ||
				name == "" {
				t.Errorf("%q", name)
			}
		}
	})
}

// Memory does not depend on how large a tree is, but on its files.
func TestTreesAreNotHeld(t *testing.T) {
	var entries []entry
	var of []any
	for i := range 16 {
		content := make([]byte, 1<<20)
		for j := range content {
			content[j] = byte(j * (i + 3) >> (j % 7)) // not much smaller when compressed
		}
		blob := entry{kind: plumbing.BlobObject, size: len(content), content: content}
		entries = append(entries, blob)
		of = append(of, fmt.Sprintf("100644 f%02d", i), hashOf(blob))
	}
	tree := treeOf(of...)
	commit := commitOf(hashOf(tree))
	pack := packOf(append(entries, tree, commit)...)
	commitHash := hashOf(commit)
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // to see what is held, and not what is not yet collected
	r := forTrees(t, sends(t, commitHash, pack).URL+"/org/proj")
	count := counting{}
	held := heap(func() {
		s, err := r.FetchRef(t.Context(), Ref{Branch: "main"})
		if err == nil {
			err = s.Files(t.Context(), "", &count)
			s.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d files of a pack of %d MB; %d MB were held", count.files, len(pack)>>20, held>>20)
	if count.files != 16 || held > 12<<20 {
		t.Errorf("%d files; %d MB were held", count.files, held>>20)
	}
}

type counting struct{ files int }

func (c *counting) Add(_ string, _ int64, r io.Reader) error {
	c.files++
	_, err := io.Copy(io.Discard, r)
	return err
}

func (c *counting) Link(string, string) error { c.files++; return nil }
