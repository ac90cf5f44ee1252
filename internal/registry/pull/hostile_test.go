package pull

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// answers lets a registry answer requests for something with a status.
func answers(part string, status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, part) {
			return false
		}
		w.WriteHeader(status)
		return true
	}
}

// Errors say what is wrong, with a hint, and never hold the password.
func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		login  func(context.Context, string) (credential.Credential, error)
		code   fault.Code
		reason string
		says   string
	}{
		"rejected": {
			answers("/", 401), loginFrom("me", "secret/pull"), fault.Unauthenticated,
			credential.ReasonRejected, "rejected the login from secret/pull",
		},
		"needs a login": {answers("/", 401), nil, fault.Unauthenticated, ReasonNotVisible, "requires a login"},
		"forbidden": {
			answers("/", 403), loginFrom("me", "secret/pull"), fault.PermissionDenied, ReasonNotVisible,
			"with the login from secret/pull",
		},
		"a forbidden layer": {
			answers("/blobs/", 403), nil, fault.PermissionDenied, ReasonNotVisible,
			"without a login",
		},
		"rate limited":       {answers("/", 429), nil, fault.Unavailable, ReasonRateLimited, "limits the rate"},
		"a layer is limited": {answers("/blobs/", 429), nil, fault.Unavailable, ReasonRateLimited, "limits the rate"},
		"broken":             {answers("/", 500), nil, fault.Unavailable, "", "500 Internal Server Error"},
		"away":               {answers("/", 503), nil, fault.Unavailable, "", "503 Service Unavailable"},
		"no layer":           {answers("/blobs/", 404), nil, fault.NotFound, ReasonNotVisible, "not found"},
		"a basic challenge": {
			challenge(`Basic realm="x"`), nil, fault.Unauthenticated, ReasonNotVisible,
			"requires a login",
		},
		"no challenge": {
			challenge(`Other realm="x"`), loginFrom("me", "secret/pull"), fault.Unauthenticated,
			credential.ReasonRejected, "rejected",
		},
		"no login": {nil, func(context.Context, string) (credential.Credential, error) {
			return credential.Credential{}, fault.New(fault.Unauthenticated, "no").WithHint("x")
		}, fault.Unauthenticated, "", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.before = test.before
			f.image("v1", layerOf(t, "a=1"))
			p := puller()
			p.Login = test.login
			_, _, err := get(t, p, f.ref(":v1"))
			if fault.CodeOf(err) != test.code || fault.ReasonOf(err) != test.reason ||
				!strings.Contains(err.Error(), test.says) {
				t.Fatalf("%s %s: %v", fault.CodeOf(err), fault.ReasonOf(err), err)
			}
			if fault.From(err).Hint == "" || strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), password) {
				t.Errorf("%+v", *fault.From(err))
			}
		})
	}
	_, _, err := get(t, puller(), "127.0.0.1:1/org/app")
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

func challenge(header string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("WWW-Authenticate", header)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

// A moment of weakness is not the end.
func TestAgain(t *testing.T) {
	f := newFake(t)
	times := 0
	f.before = func(w http.ResponseWriter, _ *http.Request) bool {
		times++
		if times == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
		return times == 1
	}
	f.image("v1", layerOf(t, "a=1"))
	if got, _, err := get(t, puller(), f.ref(":v1")); err != nil || got["a"] != "1" {
		t.Errorf("%v %v", got, err)
	}
}

// A registry that sends something else than was asked for is found out.
func TestRegistryLies(t *testing.T) {
	for name, test := range map[string]struct {
		lie    func(f *fake, image ocispec.Descriptor, layer []byte)
		ref    string // after the image, if not by its tag
		code   fault.Code
		reason string
	}{
		"another layer": {lie: func(f *fake, _ ocispec.Descriptor, layer []byte) {
			f.blobs[digest.FromBytes(layer)] = bytes.Replace(layer, []byte("one"), []byte("two"), 1)
		}, code: fault.Failed, reason: ReasonMismatch},
		"a layer that goes on": {lie: func(f *fake, _ ocispec.Descriptor, layer []byte) {
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				_, _ = w.Write(layer)
				w.(http.Flusher).Flush() // so that it has no length
				_, _ = w.Write([]byte("more"))
				return true
			}
		}, code: fault.Failed, reason: ReasonMismatch},
		"a short layer": {lie: func(f *fake, _ ocispec.Descriptor, layer []byte) {
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				w.(http.Flusher).Flush()
				_, _ = w.Write(layer[:700])
				return true
			}
		}, code: fault.Unavailable},
		"another manifest by digest": {lie: func(f *fake, image ocispec.Descriptor, _ []byte) {
			f.manifests[image.Digest.String()] = slices.Concat(f.manifests["v1"], []byte{'\n'})
			f.before = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header()["Docker-Content-Digest"] = nil
				return false
			}
		}, ref: "@", code: fault.Failed, reason: ReasonMismatch},
		"another manifest, with its own digest": {lie: func(f *fake, _ ocispec.Descriptor, _ []byte) {
			f.before = func(w http.ResponseWriter, _ *http.Request) bool {
				other := slices.Concat(f.manifests["v1"], []byte{'\n'})
				w.Header().Set("Docker-Content-Digest", digest.FromBytes(other).String())
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				_, _ = w.Write(other)
				return true
			}
		}, ref: "@", code: fault.Failed, reason: ReasonMismatch},
		"a layer of another length": {lie: func(f *fake, _ ocispec.Descriptor, layer []byte) {
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				_, _ = w.Write(append(slices.Clip(layer), 'x')) // short enough that it has a Content-Length
				return true
			}
		}, code: fault.Failed, reason: ReasonMismatch},
		"another manifest, with its digest": {lie: func(f *fake, image ocispec.Descriptor, _ []byte) {
			f.before = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Docker-Content-Digest", image.Digest.String())
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				_, _ = w.Write(slices.Concat(f.manifests["v1"], []byte{'\n'}))
				return true
			}
		}, ref: "@", code: fault.Failed, reason: ReasonMismatch},
		"a digest that it is not": {lie: func(f *fake, _ ocispec.Descriptor, _ []byte) {
			f.before = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Docker-Content-Digest", digest.FromString("x").String())
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				_, _ = w.Write(f.manifests["v1"])
				return true
			}
		}, code: fault.Failed, reason: ReasonMismatch},
		"a manifest without end": {lie: func(f *fake, _ ocispec.Descriptor, _ []byte) {
			f.before = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Docker-Content-Digest", digest.FromString("x").String())
				w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
				w.Header().Set("Content-Length", "9000000000000")
				_, _ = w.Write(f.manifests["v1"])
				return true
			}
		}, code: fault.InvalidArgument, reason: ReasonTooLarge},
		"a layer that is no tar file": {lie: func(f *fake, _ ocispec.Descriptor, _ []byte) {
			f.image("v1", bytes.Repeat([]byte("x"), 2000))
		}, code: fault.Failed, reason: ReasonNotAnImage},
		"a layer that is no gzip file": {lie: func(f *fake, _ ocispec.Descriptor, layer []byte) {
			broken := zipped(t, layer)
			broken[20] ^= 0xff
			f.image("v1", broken)
		}, code: fault.Failed, reason: ReasonNotAnImage},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			layer := layerOf(t, "a=one")
			image := f.image("v1", layer)
			test.lie(f, image, layer)
			ref := ":v1"
			if test.ref != "" {
				ref = test.ref + image.Digest.String()
			}
			_, _, err := get(t, puller(), f.ref(ref))
			if fault.CodeOf(err) != test.code || fault.ReasonOf(err) != test.reason || fault.From(err).Hint == "" {
				t.Errorf("%s %s: %v", fault.CodeOf(err), fault.ReasonOf(err), err)
			}
		})
	}
}

// What an image becomes is bounded, and so is what is sent.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 3<<20)
	for name, test := range map[string]struct {
		layers [][]byte
		says   string
	}{
		"sent": {[][]byte{make([]byte, 600<<10), make([]byte, 600<<10)}, "layers of more than 1024 KiB"},
		"unpacked": {
			[][]byte{zipped(t, layerOf(t, "a="+zeros)), zipped(t, layerOf(t, "b="+zeros))},
			"unpack to more than 4096 KiB",
		},
		"unpacked, hidden": {
			[][]byte{zipped(t, layerOf(t, "a="+zeros)), zipped(t, layerOf(t, "a="+zeros))},
			"unpack to more than 4096 KiB",
		},
		"after its end": {
			[][]byte{append(zipped(t, layerOf(t, "a=1")), zipped(t, []byte(zeros+zeros))...)},
			"unpack to more than 4096 KiB",
		},
		"files": {
			[][]byte{zipped(t, layerOf(t, many("f%d=", 1001)...))},
			"more than 1000 files and directories",
		},
		"marks": {
			[][]byte{zipped(t, layerOf(t, many(".wh.f%d=", 1001)...))},
			"more than 1000 files and directories",
		},
		"the same directory": {
			[][]byte{zipped(t, layerOf(t, many("d/%.0d", 1001)...))},
			"more than 1000 files and directories",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.image("v1", test.layers...)
			_, _, err := get(t, puller(), f.ref(":v1"))
			if fault.CodeOf(err) != fault.InvalidArgument || fault.ReasonOf(err) != ReasonTooLarge ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("%s %s: %v", fault.CodeOf(err), fault.ReasonOf(err), err)
			}
		})
	}
}

func many(format string, count int) (entries []string) {
	for i := range count {
		entries = append(entries, fmt.Sprintf(format, i))
	}
	return entries
}

// A registry that falls silent is given up, wherever it does so.
func TestSilence(t *testing.T) {
	for _, part := range []string{"/manifests/", "/blobs/", "in the middle"} {
		t.Run(part, func(t *testing.T) {
			f := newFake(t)
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.Contains(r.URL.Path, part):
				case part == "in the middle" && strings.Contains(r.URL.Path, "/blobs/"):
					_, _ = w.Write(make([]byte, 100))
					w.(http.Flusher).Flush()
				default:
					return false
				}
				<-r.Context().Done()
				return true
			}
			f.image("v1", layerOf(t, "a=1"))
			p := puller()
			p.Silence = 50 * time.Millisecond
			_, _, err := get(t, p, f.ref(":v1"))
			if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "sent nothing for too long") {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			p.Silence = 20 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			image, err := p.Resolve(ctx, f.ref(":v1"))
			if err == nil {
				err = image.Files(ctx, tree{})
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
}

// A registry with a token server gets the login there; the registry itself gets the
// token. Layers on another host are fetched with neither.
func TestTokenServer(t *testing.T) {
	for name, token := range map[string]string{"a password": "me", "an identity token": credential.DockerToken} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			layer := layerOf(t, "a=1")
			f.image("v1", layer)
			storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					t.Errorf("the storage gets %q", r.Header.Get("Authorization"))
				}
				_, _ = w.Write(layer)
			}))
			t.Cleanup(storage.Close)
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.URL.Path == "/token":
					username, given, _ := r.BasicAuth()
					refresh := r.PostFormValue("refresh_token")
					if token == "me" && (username != "me" || given != password) || token != "me" &&
						refresh != password {
						t.Errorf("the token server gets %q %q %q", username, given, refresh)
					}
					if got := r.FormValue("scope"); got != "repository:org/app:pull" {
						t.Errorf("the scope is %q", got)
					}
					_ = json.NewEncoder(w).Encode(map[string]string{"token": "the-token", "access_token": "the-token"})
				case r.Header.Get("Authorization") != "Bearer the-token":
					return challenge(fmt.Sprintf(`Bearer realm="%s/token",service="x"`, f.URL))(w, r)
				case strings.Contains(r.URL.Path, "/blobs/"):
					http.Redirect(w, r, storage.URL+"/layer?signature=x", http.StatusTemporaryRedirect)
				default:
					return false
				}
				return true
			}
			p := puller()
			p.Login = loginFrom(token, "secret/pull")
			if got, _, err := get(t, p, f.ref(":v1")); err != nil || got["a"] != "1" {
				t.Errorf("%v %v", got, err)
			}
		})
	}
}

// The login goes to nobody else, and nothing goes where there is no TLS.
func TestLoginStaysWhereItBelongs(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "" || strings.Contains(string(body), password) {
			t.Errorf("another server gets %v %s", r.Header, body)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	otherName := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	for name, test := range map[string]struct {
		answer func(f *fake, w http.ResponseWriter, r *http.Request)
		code   fault.Code
		says   string
	}{
		"a token server elsewhere": {func(_ *fake, w http.ResponseWriter, r *http.Request) {
			challenge(`Bearer realm="https://auth.evil.example.com/token",service="x"`)(w, r)
		}, fault.Failed, "wants a login to be sent to https://auth.evil.example.com, which is refused"},
		"a token server at another name": {func(_ *fake, w http.ResponseWriter, r *http.Request) {
			challenge(`Bearer realm="`+otherName+`/token"`)(w, r)
		}, fault.Failed, "wants a login to be sent to " + otherName},
		"a token server without a scheme": {func(_ *fake, w http.ResponseWriter, r *http.Request) {
			challenge(`Bearer realm="/token"`)(w, r)
		}, fault.Failed, "which is refused"},
		"a token server that sends it on": {func(f *fake, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" {
				http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
				return
			}
			challenge(`Bearer realm="`+f.URL+`/token"`)(w, r)
		}, fault.Unauthenticated, "rejected"},
		"a manifest elsewhere": {func(_ *fake, w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				challenge(`Basic realm="x"`)(w, r)
				return
			}
			http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		}, fault.Unauthenticated, "rejected"},
		"without TLS": {func(_ *fake, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://storage.example.com/x", http.StatusTemporaryRedirect)
		}, fault.Failed, "leads to http://storage.example.com, without TLS"},
		"a circle": {func(f *fake, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, f.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}, fault.Unavailable, "stopped after 5 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.before = func(w http.ResponseWriter, r *http.Request) bool { test.answer(f, w, r); return true }
			for _, username := range []string{"me", credential.DockerToken} {
				if strings.HasPrefix(name, "a manifest") && username != "me" {
					continue // such a login is for token servers
				}
				p := puller()
				p.Login = loginFrom(username, "secret/pull")
				_, _, err := get(t, p, f.ref(":v1"))
				if name == "a token server that sends it on" && username != "me" {
					if err == nil || !strings.Contains(err.Error(), "another origin") {
						t.Errorf("%v", err)
					}
					continue
				}
				if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %s: %v", username, fault.CodeOf(err), err)
				}
			}
		})
	}
}

// A registry elsewhere has to use TLS, with a certificate, unless it is allowed to do
// without.
func TestTLS(t *testing.T) {
	f := newFake(t)
	f.image("v1", layerOf(t, "a=1"))
	// Whatever the name, the connection goes to the fake.
	p := puller()
	to := strings.TrimPrefix(f.URL, "http://")
	p.Transport = dialing(to)
	_, _, err := get(t, p, "registry.example.com/org/app:v1")
	if fault.CodeOf(err) != fault.Failed || fault.ReasonOf(err) != ReasonUntrusted ||
		!strings.Contains(err.Error(), "does not use TLS") {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
	p.Insecure = true
	if got, image, err := get(t, p, "registry.example.com/org/app:v1"); err != nil || got["a"] != "1" ||
		!strings.HasPrefix(image.Ref, "registry.example.com/org/app@sha256:") {
		t.Errorf("%v %v", got, err)
	}
	secure := httptest.NewTLSServer(f)
	t.Cleanup(secure.Close)
	name := strings.TrimPrefix(secure.URL, "https://") + "/org/app:v1"
	p = puller()
	if _, _, err := get(t, p, name); fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "certificate") {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
	p.Transport = secure.Client().Transport
	if got, _, err := get(t, p, name); err != nil || got["a"] != "1" {
		t.Errorf("%v %v", got, err)
	}
}

// A registry on this machine may do without TLS, also if it answers a handshake with
// what is not even HTTP.
func TestLoopbackWithoutTLS(t *testing.T) {
	f := newFake(t)
	f.image("v1", layerOf(t, "a=1"))
	server := httptest.NewUnstartedServer(f)
	server.Listener = babbling{server.Listener}
	server.Start()
	t.Cleanup(server.Close)
	name := strings.TrimPrefix(server.URL, "http://") + "/org/app:v1"
	if got, _, err := get(t, puller(), name); err != nil || got["a"] != "1" {
		t.Errorf("%v %v", got, err)
	}
	p := puller()
	p.Transport = dialing(server.Listener.Addr().String())
	if _, _, err := get(t, p, "registry.example.com/org/app:v1"); fault.ReasonOf(err) != ReasonUntrusted {
		t.Errorf("%s: %v", fault.CodeOf(err), err)
	}
}

// babbling answers handshakes itself.
type babbling struct{ net.Listener }

func (b babbling) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		in := bufio.NewReader(conn)
		if start, _ := in.Peek(1); string(start) != "\x16" {
			return buffered{conn, in}, nil
		}
		_, _ = io.WriteString(conn, "<!DOCTYPE HTML><title>Bad request</title>")
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, in) // or the answer may be lost
		_ = conn.Close()
	}
}

// buffered is a connection of which something has been read.
type buffered struct {
	net.Conn
	in io.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.in.Read(p) }

func TestSameDomain(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"auth.docker.io", "registry-1.docker.io", true},
		{"GitLab.com", "registry.gitlab.com", true},
		{"ghcr.io", "ghcr.io", true},
		{"a.co.uk", "b.co.uk", false},
		{"a.github.io", "b.github.io", false},
		{"evil.example.com", "registry.example.net", false},
		{"docker.io.evil.com", "docker.io", false},
		{"127.0.0.1", "127.0.0.1", true},
		{"10.0.0.1", "10.1.0.1", false},
		{"1.0.0.1", "evil.0.1", false},
		{"registry", "auth", false},
		{"registry", "registry", true},
		{"com", "com.com", false},
	} {
		if got := sameDomain(test.a, test.b); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}

func TestTokenServerIsRefused(t *testing.T) {
	g := newGate("registry.example.com", Puller{})
	for address, want := range map[string]bool{
		"https://auth.example.com/token": true, "http://auth.example.com/token": false, "https://example.com": true,
		"https://registry.example.com:8443/x": true, "http://127.0.0.1/x": false, "https://auth.example.net": false,
		"ftp://registry.example.com": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.tokenServer(u); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		} else if err != nil && (!strings.Contains(err.Error(), "registry.example.com") ||
			!strings.Contains(err.Error(), u.Host) || fault.From(err).Hint == "") {
			t.Errorf("%v", err)
		}
	}
}
