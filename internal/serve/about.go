package serve

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/berthdev/berth/internal/fault"
)

// Health says whether a server lives, and whether it can work.
type Health struct {
	mu       sync.Mutex
	stopping bool
	checks   map[string]func(context.Context) error
}

// checkTimeout is how long the checks of readiness may take.
const checkTimeout = 2 * time.Second

// Check adds something that has to be in order before the server is ready.
func (h *Health) Check(name string, check func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.checks == nil {
		h.checks = map[string]func(context.Context) error{}
	}
	h.checks[name] = check
}

// stop makes the server unready, so that nobody is sent to it any more.
func (h *Health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopping = true
}

// Problems are why the server is not ready.
func (h *Health) Problems(ctx context.Context) (problems []string) {
	h.mu.Lock()
	stopping, checks := h.stopping, make(map[string]func(context.Context) error, len(h.checks))
	maps.Copy(checks, h.checks)
	h.mu.Unlock()
	if stopping {
		return []string{"it is stopping"}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for name, check := range checks {
		if err := check(ctx); err != nil {
			problems = append(problems, name+": "+fault.Line(err.Error()))
		}
	}
	slices.Sort(problems)
	return problems
}

// Handler answers /healthz and /readyz.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", h.live)
	mux.HandleFunc("GET /readyz", h.ready)
	return mux
}

// live answers /healthz: what answers at all lives.
func (h *Health) live(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") }

// ready answers /readyz.
func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	if problems := h.Problems(r.Context()); len(problems) > 0 {
		http.Error(w, strings.Join(problems, "\n"), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

// Metrics are what a server counts. Their labels have few values: no names of users or objects.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	open     prometheus.Gauge
	passes   *prometheus.CounterVec
	worked   *prometheus.HistogramVec
	leading  *prometheus.GaugeVec
	sessions *prometheus.GaugeVec
	begun    *prometheus.CounterVec
}

// NewMetrics makes metrics of a registry of their own.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_http_requests_total", Help: "Requests that were answered.",
		}, []string{"method", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "berth_http_request_duration_seconds", Help: "How long requests took.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9),
		}, []string{"method"}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "berth_http_requests_open", Help: "Requests that are being answered.",
		}),
		passes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_reconcile_total", Help: "Objects that were reconciled, by how it ended.",
		}, []string{"kind", "result"}),
		worked: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "berth_reconcile_duration_seconds", Help: "How long reconciling an object took.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 9),
		}, []string{"kind"}),
		leading: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "berth_leader", Help: "Whether this process is the leader for a lease.",
		}, []string{"lease"}),
		sessions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "berth_sessions_open", Help: "Sessions that are open.",
		}, []string{"kind"}),
		begun: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "berth_sessions_total", Help: "Sessions that were opened.",
		}, []string{"kind"}),
	}
	m.registry.MustRegister(m.requests, m.took, m.open, m.passes, m.worked, m.leading, m.sessions, m.begun)
	return m
}

// Reconciled counts a pass over an object of a kind.
func (m *Metrics) Reconciled(kind string, took time.Duration, err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.passes.WithLabelValues(kind, result).Inc()
	m.worked.WithLabelValues(kind).Observe(took.Seconds())
}

// Leading notes whether this process is the leader.
func (m *Metrics) Leading(lease string, leads bool) {
	value := 0.0
	if leads {
		value = 1
	}
	m.leading.WithLabelValues(lease).Set(value)
}

// Session counts a session with something of a kind, until over is called. Those that were refused are requests with
// another code than 101.
func (m *Metrics) Session(kind string) (over func()) {
	m.begun.WithLabelValues(kind).Inc()
	m.sessions.WithLabelValues(kind).Inc()
	return m.sessions.WithLabelValues(kind).Dec
}

// handler answers /metrics, with what the client library itself collects of Go and the process.
func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{prometheus.DefaultGatherer, m.registry},
		promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// counted counts the requests to a handler.
func (m *Metrics) counted(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, answer := now(), &recorder{ResponseWriter: w}
		m.open.Inc()
		defer func() {
			m.open.Dec()
			method := known(r.Method)
			m.requests.WithLabelValues(method, strconv.Itoa(answer.status())).Inc()
			m.took.WithLabelValues(method).Observe(now().Sub(begun).Seconds())
		}()
		next.ServeHTTP(answer, r)
	})
}

// known is a method as a label: clients make methods up.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

// Gauge adds a value that a role has, read when it is asked for.
func (m *Metrics) Gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// Counter adds a count of a role that only grows, read when it is asked for.
func (m *Metrics) Counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}
