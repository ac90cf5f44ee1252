package source_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

const system = "berth-system"

// onCluster gives a fetcher a cluster with objects.
func onCluster(t *testing.T, objects ...runtime.Object) (source.Fetcher, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(objects...)
	f := newFetcher(t)
	f.Cluster = &source.Cluster{Client: client.CoreV1(), Namespace: system}
	return f, client
}

// login is a Secret with a login for the hosts of URLs.
func login(urls ...string) *corev1.Secret {
	hosts := make([]string, len(urls))
	for i, url := range urls {
		_, host, _ := strings.Cut(url, "://")
		hosts[i], _, _ = strings.Cut(host, "/")
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "login", Namespace: system,
			Annotations: map[string]string{source.AnnotationHosts: strings.Join(hosts, ", ")},
		},
		Data: map[string][]byte{"username": []byte("alice"), "password": []byte("s3cret\n")},
	}
}

// wrongLogin is a Secret with a password that no server takes.
func wrongLogin(urls ...string) *corev1.Secret {
	wrong := login(urls...)
	wrong.Name, wrong.Data = "wrong", map[string][]byte{"username": []byte("alice"), "password": []byte("0ther")}
	return wrong
}

func withWrongLogin() *v1alpha1.Authorization {
	return &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: "wrong"}}
}

func overHTTP(url string, auth *v1alpha1.Authorization) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceHTTP, HTTP: &v1alpha1.HTTPSource{URL: url, Auth: auth}}
}

func withLogin() *v1alpha1.Authorization {
	return &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: "login"}}
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestHTTP(t *testing.T) {
	packed := targz(t, map[string]string{"manifests/a.yaml": "kind: A\n"})
	requests := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/b.tgz", http.StatusFound)
			return
		}
		_, _ = w.Write(packed)
	})
	f := newFetcher(t)
	var told []v1.Progress
	f.Progress = func(p v1.Progress) { told = append(told, p) }
	c, resolved, err := f.Fetch(t.Context(), overHTTP(url+"/moved?token=t0ken", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if resolved.HTTP.Digest != c.Digest || resolved.HTTP.URL != url+"/moved?token=t0ken" || c.Files != 1 ||
		requests != 2 {
		t.Errorf("%+v, %+v, %d requests", resolved.HTTP, c, requests)
	}
	first, last := told[0], told[len(told)-1]
	want := v1.Progress{Message: "Fetching " + url + "/moved", Total: int64(len(packed))}
	if first != want || last.Done != int64(len(packed)) || last.Total != want.Total {
		t.Errorf("%+v … %+v", first, last)
	}
	again, _, err := f.Fetch(t.Context(), resolved)
	if err != nil || requests != 2 {
		t.Fatalf("what is resolved is not taken from the cache: %v, %d requests", err, requests)
	}
	_ = again.Close()
	packed = targz(t, map[string]string{"manifests/a.yaml": "kind: B\n"})
	f.Cache = content.NewCache(t.TempDir(), 1<<20)
	if _, _, err := f.Fetch(t.Context(), resolved); fault.CodeOf(err) != fault.Failed ||
		!strings.Contains(err.Error(), "has other content now") {
		t.Error(err)
	}
}

// The login goes to the server that it is for, and to no other, wherever that redirects
// to.
func TestHTTPLoginStaysAtHome(t *testing.T) {
	packed := targz(t, map[string]string{"a": "a"})
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Authorization"])+len(r.Header["Cookie"]) > 0 {
			t.Errorf("another server has been sent %v", r.Header)
		}
		_, _ = w.Write(packed)
	})
	asked := 0
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if username, password, ok := r.BasicAuth(); !ok || username != "alice" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	f, _ := onCluster(t, login(home), wrongLogin(home))
	c, _, err := f.Fetch(t.Context(), overHTTP(home, withLogin()))
	if err != nil || asked != 1 {
		t.Fatal(err, asked)
	}
	_ = c.Close()
	_, _, err = f.Fetch(t.Context(), overHTTP(home, nil))
	if fault.CodeOf(err) != fault.Unauthenticated ||
		!strings.Contains(err.Error(), home+" requires a login: 401 Unauthorized") ||
		!strings.Contains(fault.From(err).Hint, "--source-secret") {
		t.Error(err)
	}
	_, _, err = f.Fetch(t.Context(), overHTTP(home, withWrongLogin()))
	if fault.CodeOf(err) != fault.Unauthenticated ||
		!strings.Contains(err.Error(), home+": 401 Unauthorized with the login from secret/wrong") ||
		strings.Contains(err.Error(), "0ther") {
		t.Error(err)
	}
}

func TestHTTPCertificates(t *testing.T) {
	packed := targz(t, map[string]string{"a": "a"})
	files := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed) })
	overTLS := func(handler http.Handler) *httptest.Server {
		server := httptest.NewUnstartedServer(handler)
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	server, other := overTLS(files), overTLS(files)
	redirecting := overTLS(http.RedirectHandler(other.URL, http.StatusFound))
	insecure := overTLS(http.RedirectHandler(serve(t, files), http.StatusFound))
	skip := &v1alpha1.Authorization{InsecureSkipVerify: true}
	for name, test := range map[string]struct {
		url  string
		auth *v1alpha1.Authorization
		says string
	}{
		"is verified":                     {server.URL, nil, "certificate"},
		"is not verified on request":      {server.URL, skip, ""},
		"of another server is verified":   {redirecting.URL, skip, "certificate"},
		"no redirect to what has no such": {insecure.URL, skip, "refused to follow a redirect from https"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, err := newFetcher(t).Fetch(t.Context(), overHTTP(test.url, test.auth))
			if err == nil {
				_ = c.Close()
			}
			if (err == nil) != (test.says == "") || err != nil &&
				(fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), test.says)) {
				t.Error(err)
			}
		})
	}
}

func TestHTTPFails(t *testing.T) {
	packed := targz(t, map[string]string{"a": strings.Repeat("a", 1000)})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/cut":
			w.Header().Set("Content-Length", fmt.Sprint(len(packed)+10))
			_, _ = w.Write(packed[:len(packed)-10])
		case "/announced":
			w.Header().Set("Content-Length", fmt.Sprint(1<<40))
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		case "/page":
			_, _ = w.Write([]byte("<html>" + strings.Repeat("log in", 200)))
		default:
			var status int
			_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
			w.WriteHeader(status)
		}
	})
	for path, test := range map[string]struct {
		code fault.Code
		says string
	}{
		"/401":       {fault.Unauthenticated, "401 Unauthorized"},
		"/403":       {fault.PermissionDenied, "403 Forbidden"},
		"/404":       {fault.NotFound, "404 Not Found"},
		"/500":       {fault.Unavailable, "500 Internal Server Error"},
		"/204":       {fault.Unavailable, "204 No Content"},
		"/206":       {fault.Unavailable, "206 Partial Content"},
		"/loop":      {fault.Unavailable, "stopped after 5 redirects"},
		"/cut":       {fault.Unavailable, "unexpected EOF"},
		"/announced": {fault.InvalidArgument, "1099511627776 bytes"},
		"/endless":   {fault.InvalidArgument, "/endless: the archive is larger than 1 MiB"},
		"/page":      {fault.InvalidArgument, "/page: this is a page of HTML, neither a tar file nor YAML"},
	} {
		t.Run(path, func(t *testing.T) {
			f := newFetcher(t)
			f.Limits.Compressed = 1 << 20
			_, _, err := f.Fetch(t.Context(), overHTTP(url+path+"?token=t0ken", nil))
			if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) ||
				!strings.Contains(err.Error(), url+path) || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
		})
	}
}

func TestHTTPRefusesURLs(t *testing.T) {
	for url, says := range map[string]string{
		"https://u:s3cret@host/": "has a login in it", "ftp://host/": `the scheme "ftp"`, "": "not a URL",
		"https://": "not a URL", "file:///etc/passwd": "not a URL",
		"https://u:s3cret@h:x/": "not a URL",
	} {
		_, _, err := newFetcher(t).Fetch(t.Context(), overHTTP(url, nil))
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestHTTPLoginIsMissing(t *testing.T) {
	empty := login("https://host/")
	empty.Data = nil
	for says, f := range map[string]func() source.Fetcher{
		"needs secret/login of a cluster": func() source.Fetcher { return newFetcher(t) },
		"secret/login does not exist in namespace berth-system": func() source.Fetcher {
			f, _ := onCluster(t)
			return f
		},
		"secret/login in namespace berth-system has no password": func() source.Fetcher {
			f, _ := onCluster(t, empty)
			return f
		},
	} {
		if _, _, err := f().Fetch(t.Context(), overHTTP("https://host/", withLogin())); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A server that stalls is left, by itself and with the context.
func TestHTTPStalls(t *testing.T) {
	packed := targz(t, map[string]string{"a": strings.Repeat("a", 1000)})
	for name, before := range map[string]int{"before the answer": -1, "before the archive": 0, "in the archive": 50} {
		t.Run(name, func(t *testing.T) {
			reached := make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if before >= 0 {
					_, _ = w.Write(packed[:before])
					_ = http.NewResponseController(w).Flush()
				}
				if r.URL.Path == "/reached" {
					close(reached)
				}
				<-r.Context().Done()
			})
			f := newFetcher(t)
			_, _, err := f.WithMaxSilence(20*time.Millisecond).Fetch(t.Context(), overHTTP(url, nil))
			if fault.CodeOf(err) != fault.Unavailable ||
				!strings.Contains(err.Error(), "has sent nothing for too long, or less than 20 bytes in 20ms") {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-reached; cancel() }()
			if _, _, err := f.Fetch(ctx, overHTTP(url+"/reached", nil)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// A server that never stalls, and never comes to an end, is left as well.
func TestHTTPThatDrips(t *testing.T) {
	packed := targz(t, map[string]string{"a": strings.Repeat("a", 1000)})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		every := time.NewTicker(40 * time.Millisecond)
		defer every.Stop()
		for i := range packed {
			_, _ = w.Write(packed[i : i+1])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-every.C:
			}
		}
	})
	_, _, err := newFetcher(t).WithMaxSilence(100*time.Millisecond).Fetch(t.Context(), overHTTP(url, nil))
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "less than 102 bytes in 100ms") {
		t.Error(err)
	}
}

// All of it has a time, whatever comes.
func TestFetchWithin(t *testing.T) {
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, s := range map[string]v1alpha1.Source{
		url + "/a.tgz": overHTTP(url+"/a.tgz?token=x", nil),
		"repository " + url + "/r": {
			Type: v1alpha1.SourceGit,
			Git:  &v1alpha1.GitSource{Repository: url + "/r", Ref: v1alpha1.GitRef{Branch: "main"}},
		},
		"image " + url[7:] + "/i:1": {Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: url[7:] + "/i:1"}},
	} {
		f := newFetcher(t)
		f.Time = 50 * time.Millisecond
		_, _, err := f.Fetch(t.Context(), s)
		if fault.CodeOf(err) != fault.DeadlineExceeded || err.Error() != name+" was not fetched within 50ms" ||
			!strings.Contains(fault.From(err).Hint, "--fetch-timeout") {
			t.Errorf("%v: %v", fault.CodeOf(err), err)
		}
		f.Time = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, _, err := f.Fetch(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		cancel()
	}
}

func TestFetchRefusesSources(t *testing.T) {
	for says, s := range map[string]v1alpha1.Source{
		`source type "s3" is not implemented by this provisioner`: {Type: "s3"},
		`source type "" is not implemented by this provisioner`:   {},
		"source.http is missing, as the type is http":             {Type: v1alpha1.SourceHTTP},
		"source.git is set, but the type is upload": {
			Type:   v1alpha1.SourceUpload,
			Upload: &v1alpha1.UploadSource{}, Git: &v1alpha1.GitSource{},
		},
		"the source has 2 problems, the first is that source.image": {
			Type:  v1alpha1.SourceHTTP,
			Image: &v1alpha1.ImageSource{},
		},
	} {
		if _, _, err := newFetcher(t).Fetch(t.Context(), s); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(err.Error(), says) || fault.From(err).Hint == "" {
			t.Errorf("%v, want %s", err, says)
		}
	}
}
