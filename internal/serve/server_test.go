package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/fault"
)

// server is one that runs.
type server struct {
	role, about string
	client      *http.Client
	log         *lines
	stop        context.CancelFunc
	ended       chan error
}

// lines is a log that several write.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func run(t *testing.T, handler http.Handler, pair certtest.Pair, change func(*Config)) *server {
	t.Helper()
	s := &server{log: &lines{}, ended: make(chan error, 1)}
	c := Config{
		Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Cert: pair.Cert, Key: pair.Key, Handler: handler,
		Health: &Health{}, Metrics: NewMetrics(),
		Log: NewLog(s.log, false, slog.LevelInfo), Now: time.Now, Timeouts: DefaultTimeouts(),
	}
	c.Timeouts.Drain = 0
	listening := make(chan [2]net.Addr, 1)
	c.Listening = func(role, about net.Addr) { listening <- [2]net.Addr{role, about} }
	if change != nil {
		change(&c)
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() { s.ended <- Run(ctx, c) }()
	select {
	case at := <-listening:
		s.role, s.about = at[0].String(), at[1].String()
	case err := <-s.ended:
		stop()
		t.Fatal(err)
	}
	t.Cleanup(stop)
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // what is checked is another test
	}}
	return s
}

func (s *server) get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := s.client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

func TestHealthAndMetrics(t *testing.T) {
	var broken error
	var mu sync.Mutex
	pair := certtest.New(t).Issue(time.Now().Add(time.Hour), "localhost")
	s := run(t, http.NotFoundHandler(), pair, func(c *Config) {
		c.Health.Check("leader", func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			return broken
		})
	})
	s.get(t, "https://"+s.role+"/x")
	for path, want := range map[string]string{
		"/healthz": "ok\n", "/readyz": "ok\n",
		"/metrics": `berth_http_requests_total{code="404",method="GET"} 1`,
	} {
		if status, text := s.get(t, "https://"+s.about+path); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %s", path, status, text, want)
		}
	}
	mu.Lock()
	broken = fault.New(fault.Unavailable, "nobody leads")
	mu.Unlock()
	if status, text := s.get(t, "https://"+s.about+"/readyz"); status != 503 || text != "leader: nobody leads\n" {
		t.Errorf("not ready: %d %q", status, text)
	}
	if status, _ := s.get(t, "https://"+s.role+"/metrics"); status != 404 {
		t.Errorf("metrics have a port of their own: %d", status)
	}
}

// An open request ends in peace, within a bound; no new one is accepted.
func TestStop(t *testing.T) {
	begun, leave := make(chan struct{}, 2), make(chan struct{})
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		if r.URL.Path == "/forever" {
			<-r.Context().Done()
			return
		}
		<-leave
		_, _ = w.Write([]byte("done"))
	})
	s := run(t, slow, certtest.Pair{}, nil)
	answered := make(chan string, 1)
	go func() {
		_, text := s.get(t, "http://"+s.role)
		answered <- text
	}()
	<-begun
	s.stop()
	close(leave)
	if text := <-answered; text != "done" {
		t.Errorf("the answer is %q", text)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s = run(t, slow, certtest.Pair{}, func(c *Config) { c.Timeouts.Stop = 50 * time.Millisecond })
	go func() {
		if response, err := s.client.Get("http://" + s.role + "/forever"); err == nil {
			response.Body.Close()
		}
	}()
	<-begun
	s.stop()
	if err := <-s.ended; err != nil || !strings.Contains(s.log.String(), "open requests are cut off") {
		t.Errorf("it ended with %v: %s", err, s.log)
	}
}

// A client that reads nothing is cut off; one that reads slowly is not.
func TestSlowReaders(t *testing.T) {
	cut := make(chan error, 1)
	s := run(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for range 256 {
			if _, err := w.Write(piece); err != nil {
				cut <- err
				return
			}
		}
		cut <- nil
	}), certtest.Pair{}, func(c *Config) { c.Timeouts.Write = 300 * time.Millisecond })
	conn, err := net.Dial("tcp", s.role)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-cut; err == nil {
		t.Error("a client that reads nothing was sent all of it")
	}
}

// When load ends, goroutines and memory are what they were before it.
func TestNothingIsLeftAfterLoad(t *testing.T) {
	cluster := &cluster{}
	for _, name := range []string{"0", "1", "2", "3", "4", "5", "6", "7"} {
		cluster.may.Store("user"+name+" get /", true)
	}
	guard, _ := newGuard(cluster, Limits{Open: 64, OpenPerCaller: 8, Rate: 0.1, Burst: 60, Reviews: 1000})
	guard.Log = slog.New(slog.DiscardHandler)
	content := bytes.Repeat([]byte("x"), 256<<10)
	pair := certtest.New(t).Issue(time.Now().Add(time.Hour), "localhost")
	s := run(t, guard.Protect(func(*http.Request) Access { return Get("/") },
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(content)
		})), pair, func(*Config) {})
	load := func(clients, requests int) (refused int) {
		var all sync.WaitGroup
		var mu sync.Mutex
		for i := range clients {
			all.Go(func() {
				client := &http.Client{Transport: s.client.Transport.(*http.Transport).Clone()}
				defer client.CloseIdleConnections()
				for n := range requests {
					r, _ := http.NewRequest(http.MethodGet, "https://"+s.role, http.NoBody)
					r.Header.Set("Authorization", "Bearer of-user"+string(rune('0'+i%8)))
					if n%5 == 4 {
						r.Header.Set("Authorization", "Bearer bad"+string(rune('0'+n%8)))
					}
					response, err := client.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, response.Body)
					response.Body.Close()
					mu.Lock()
					if response.StatusCode == http.StatusTooManyRequests {
						refused++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		return refused
	}
	load(8, 10) // what is made once has been made
	goroutines, memory := settle(t, 0), heap()
	if refused := load(32, 40); refused == 0 {
		t.Error("the load met no limit")
	}
	if after := settle(t, goroutines); after > goroutines {
		t.Errorf("%d goroutines, %d before", after, goroutines)
	}
	if after := heap(); after > memory+4<<20 {
		t.Errorf("%d KiB of memory, %d before", after>>10, memory>>10)
	}
}

// settle waits until no more goroutines than wanted run, or, for 0, until their number no longer changes.
func settle(t *testing.T, want int) (n int) {
	t.Helper()
	last := 0
	for range 200 {
		if n = runtime.NumGoroutine(); n <= want || want == 0 && n == last {
			return n
		}
		last = n
		time.Sleep(50 * time.Millisecond)
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse
}
