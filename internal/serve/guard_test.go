package serve

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newGuard(c *cluster, limits Limits) (*Guard, *bytes.Buffer) {
	var log bytes.Buffer
	return &Guard{
		Authenticator: NewAuthenticator(c, limits, time.Now), Authorizer: NewAuthorizer(c, time.Now),
		Limits: NewLimiter(limits, time.Now), Log: NewLog(&log, false, slog.LevelInfo), Now: time.Now,
	}, &log
}

func get(handler http.Handler, path, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	if token != "" {
		r.Header.Set("Authorization", token)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func greet(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello there")) }

func byPath(r *http.Request) Access { return Get(r.URL.Path) }

func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		token, path string
		down        bool
		want        int
	}{
		"no token":                            {"", "/a", false, 401},
		"a bad token":                         {"Bearer nonsense", "/a", false, 401},
		"another scheme":                      {"Basic of-alice", "/a", false, 401},
		"a token without a scheme":            {"of-alice", "/a", false, 401},
		"a token that is far too long":        {"Bearer of-" + strings.Repeat("a", maxToken), "/a", false, 401},
		"may":                                 {"Bearer of-alice", "/a", false, 200},
		"may, in another spelling":            {"bearer   of-alice ", "/a", false, 200},
		"may something else":                  {"Bearer of-alice", "/b", false, 403},
		"may nothing":                         {"Bearer of-bob", "/a", false, 403},
		"nobody can be asked about them":      {"Bearer of-alice", "/a", true, 503},
		"a bad token and nobody can be asked": {"Bearer nonsense", "/a", true, 503},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &cluster{}
			cluster.may.Store("alice get /a", true)
			cluster.down.Store(c.down)
			guard, log := newGuard(cluster, DefaultLimits())
			w := get(guard.Protect(byPath, http.HandlerFunc(greet)), c.path, c.token)
			if w.Code != c.want {
				t.Errorf("the answer is %d %s, want %d", w.Code, w.Body, c.want)
			}
			if (c.want == 200) != (w.Body.String() == "hello there") {
				t.Errorf("the body is %q", w.Body)
			}
			if (c.want == 401) != (w.Header().Get("WWW-Authenticate") != "") {
				t.Error("401 says how to log in, and nothing else does")
			}
			if strings.Contains(log.String(), "of-") || strings.Contains(w.Body.String(), "nonsense") {
				t.Errorf("a token got out: %s", log)
			}
		})
	}
}

// What a known user asks for gets a line: who, what, from where, how it ended.
func TestAudit(t *testing.T) {
	cluster := &cluster{}
	cluster.may.Store("alice get /a", true)
	guard, log := newGuard(cluster, DefaultLimits())
	handler := guard.Protect(byPath, http.HandlerFunc(greet))
	get(handler, "/a", "Bearer of-alice")
	get(handler, "/b", "Bearer of-alice")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("want two lines, got %s", log)
	}
	for i, want := range []string{
		`"msg":"audit","user":"alice","access":"get ` +
			`/a","method":"GET","from":"192.0.2.1:1234","status":200,"bytes":11,"took":`,
		`"msg":"audit","user":"alice","access":"get /b","method":"GET","from":"192.0.2.1:1234","status":403,`,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %s, want %s", i, lines[i], want)
		}
	}
}

// What a handler knows is in the line, also of who is not let in.
func TestAuditNotes(t *testing.T) {
	cluster := &cluster{}
	cluster.may.Store("alice get /a", true)
	guard, log := newGuard(cluster, DefaultLimits())
	guarded := guard.Protect(byPath, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		Note(r.Context(), slog.String("ended", "so it is"))
	}))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guarded.ServeHTTP(w, Noted(r, slog.String("object", "thing"+r.URL.Path)))
	})
	get(handler, "/a", "Bearer of-alice")
	get(handler, "/b", "Bearer of-alice")
	for _, want := range []string{
		`"access":"get /a","object":"thing/a","ended":"so it is","method":"GET"`,
		`"access":"get /b","object":"thing/b","method":"GET"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no line has %s:\n%s", want, log)
		}
	}
}

// The answers of the API server hold for a while: 2 minutes who it is, 5 what they may do, 30 seconds what they may
// not.
func TestAnswersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{}
		c.may.Store("alice get /a", true)
		guard, _ := newGuard(c, DefaultLimits())
		handler := guard.Protect(byPath, http.HandlerFunc(greet))
		asked := func(path, token string, authenticated, authorized int64) {
			t.Helper()
			before, beforeThat := c.authenticated.Load(), c.authorized.Load()
			get(handler, path, token)
			if a, b := c.authenticated.Load()-before, c.authorized.Load()-beforeThat; a != authenticated ||
				b != authorized {
				t.Errorf("%s %s: %d and %d reviews, want %d and %d", path, token, a, b, authenticated, authorized)
			}
		}
		asked("/a", "Bearer of-alice", 1, 1)
		asked("/b", "Bearer of-alice", 0, 1)
		asked("/a", "Bearer bad", 1, 0)
		asked("/a", "Bearer bad", 0, 0)
		time.Sleep(29 * time.Second)
		asked("/a", "Bearer of-alice", 0, 0)
		asked("/b", "Bearer of-alice", 0, 0)
		asked("/a", "Bearer bad", 1, 0)
		time.Sleep(2 * time.Second)
		asked("/b", "Bearer of-alice", 0, 1)
		time.Sleep(90 * time.Second)
		asked("/a", "Bearer of-alice", 1, 0)
		time.Sleep(3 * time.Minute)
		asked("/a", "Bearer of-alice", 1, 1)
	})
}

// An error is no answer: the next request asks again.
func TestErrorsAreNotKept(t *testing.T) {
	c := &cluster{}
	c.may.Store("alice get /a", true)
	guard, _ := newGuard(c, DefaultLimits())
	handler := guard.Protect(byPath, http.HandlerFunc(greet))
	c.down.Store(true)
	if w := get(handler, "/a", "Bearer of-alice"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the answer is %d", w.Code)
	}
	c.down.Store(false)
	if w := get(handler, "/a", "Bearer of-alice"); w.Code != 200 {
		t.Errorf("the answer is %d", w.Code)
	}
}

// Many requests with one token at once ask about it once.
func TestOneQuestionForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{hold: make(chan struct{})}
		c.may.Store("alice get /a", true)
		guard, _ := newGuard(c, DefaultLimits())
		handler := guard.Protect(byPath, http.HandlerFunc(greet))
		var all sync.WaitGroup
		for range 15 {
			all.Go(func() {
				if w := get(handler, "/a", "Bearer of-alice"); w.Code != 200 {
					t.Errorf("the answer is %d", w.Code)
				}
			})
		}
		synctest.Wait()
		close(c.hold)
		all.Wait()
		if n := c.authenticated.Load(); n != 1 {
			t.Errorf("%d questions, want one", n)
		}
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{}
		for _, name := range []string{"alice", "bob"} {
			c.may.Store(name+" get /a", true)
		}
		guard, _ := newGuard(c, Limits{Open: 3, OpenPerCaller: 2, Rate: 1, Burst: 4, Reviews: 50})
		leave := make(chan struct{})
		slow := guard.Protect(byPath, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave }))
		quick := guard.Protect(byPath, http.HandlerFunc(greet))
		var open sync.WaitGroup
		hold := func(token string) { open.Go(func() { get(slow, "/a", token) }); synctest.Wait() }
		refused := func(what string, handler http.Handler, token, after string) {
			t.Helper()
			if w := get(handler, "/a", token); w.Code != 429 || w.Header().Get("Retry-After") != after {
				t.Errorf("%s: the answer is %d, again after %q, want 429 and %q", what, w.Code,
					w.Header().Get("Retry-After"), after)
			}
		}
		hold("Bearer of-alice")
		hold("Bearer of-alice")
		refused("three open requests of one caller", slow, "Bearer of-alice", "1")
		hold("Bearer of-bob")
		refused("four open requests", slow, "Bearer of-bob", "1")
		close(leave)
		open.Wait()
		if w := get(quick, "/a", "Bearer of-alice"); w.Code != 200 {
			t.Errorf("after the others have left: %d", w.Code)
		}
		refused("five requests of one caller at once", quick, "Bearer of-alice", "1")
		time.Sleep(time.Second)
		if w := get(quick, "/a", "Bearer of-alice"); w.Code != 200 {
			t.Errorf("a second later: %d", w.Code)
		}
		if w := get(quick, "/a", "Bearer of-bob"); w.Code != 200 {
			t.Errorf("another caller: %d", w.Code)
		}
		if guard.Limits.open["alice"]+guard.Limits.open["bob"]+len(guard.Limits.all) != 0 {
			t.Error("nothing is open any more")
		}
	})
}
