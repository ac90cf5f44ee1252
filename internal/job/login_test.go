package job

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
)

// overTLS makes a server want TLS; of clients of an authority, if one is given,
// a certificate as well.
func overTLS(t *testing.T, pair certtest.Pair, clients string) func(*server.Options) {
	t.Helper()
	certificate, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	check(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	if clients != "" {
		text, err := os.ReadFile(clients)
		check(t, err)
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		config.ClientCAs.AppendCertsFromPEM(text)
	}
	return func(o *server.Options) { o.TLSConfig, o.TLSTimeout = config, 5 }
}

// always dials the same address, as a forwarded port does.
type always struct{ address string }

func (a always) Dial(network, _ string) (net.Conn, error) { return net.Dial(network, a.address) }

// hush and wrong are passwords, which are never printed.
const hush, wrong = "hunter2", "hunter3"

// Each way to log in works. Where one does not, the command ends as it would
// have, soon, and one warning names the cause and the key of the configuration.
func TestLogins(t *testing.T) {
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	file, expired, trusted := credentials(t)
	ca, other := certtest.New(t), certtest.New(t)
	here, client := ca.Issue(soon, "127.0.0.1"), ca.Issue(soon, "berth")
	inCluster := ServiceConfig{Namespace: "platform", Name: "nats"}
	password := func(o *server.Options) { o.Username, o.Password = "berth", hush }
	token := func(o *server.Options) { o.Authorization = hush }
	mine := TLSConfig{CA: ca.File}
	mutual := overTLS(t, here, ca.File)
	for name, c := range map[string]struct {
		server func(*server.Options)
		config NATSConfig
		says   string // of the warning; nothing where it works
	}{
		"user and password":   {password, NATSConfig{User: "berth", Password: hush}, ""},
		"wrong password":      {password, NATSConfig{User: "berth", Password: wrong}, "does not accept the user and the password (jobs.nats.user, jobs.nats.password)"},
		"no login":            {password, NATSConfig{}, "wants a login (jobs.nats.user, jobs.nats.token or jobs.nats.credentials)"},
		"token":               {token, NATSConfig{Token: hush}, ""},
		"wrong token":         {token, NATSConfig{Token: wrong}, "does not accept the token (jobs.nats.token)"},
		"credentials":         {trusted, NATSConfig{Credentials: file}, ""},
		"expired":             {trusted, NATSConfig{Credentials: expired}, "does not accept the credentials, which expired at 2023-11-14T22:13:20Z (jobs.nats.credentials)"},
		"of somebody else":    {trusted, NATSConfig{Credentials: func() string { f, _, _ := credentials(t); return f }()}, "does not accept the credentials (jobs.nats.credentials)"},
		"no such file":        {trusted, NATSConfig{Credentials: "/none"}, "jobs.nats.credentials cannot be used: open /none"},
		"no credentials":      {trusted, NATSConfig{Credentials: written(t, hush)}, "jobs.nats.credentials cannot be used"},
		"own authority":       {overTLS(t, here, ""), NATSConfig{TLS: mine}, ""},
		"unknown authority":   {overTLS(t, here, ""), NATSConfig{}, "has a certificate of a CA that the system does not know (jobs.nats.tls.ca)"},
		"wrong authority":     {overTLS(t, here, ""), NATSConfig{TLS: TLSConfig{CA: other.File}}, "has a certificate of another CA than that of jobs.nats.tls.ca"},
		"no authority":        {overTLS(t, here, ""), NATSConfig{TLS: TLSConfig{CA: "/none"}}, "jobs.nats.tls.ca cannot be used: open /none"},
		"not an authority":    {overTLS(t, here, ""), NATSConfig{TLS: TLSConfig{CA: here.Key}}, "jobs.nats.tls.ca cannot be used: there is no certificate"},
		"server expired":      {overTLS(t, ca.Issue(past, "127.0.0.1"), ""), NATSConfig{TLS: mine}, "has a certificate that has expired, or is not valid yet (jobs.nats.tls)"},
		"no TLS there":        {nil, NATSConfig{TLS: mine}, "has no TLS, which jobs.nats.tls asks for"},
		"mutual":              {mutual, NATSConfig{TLS: TLSConfig{CA: ca.File, Cert: client.Cert, Key: client.Key}}, ""},
		"no certificate":      {mutual, NATSConfig{TLS: mine}, "wants a client certificate (jobs.nats.tls.cert, jobs.nats.tls.key)"},
		"not of this key":     {mutual, NATSConfig{TLS: TLSConfig{CA: ca.File, Cert: client.Cert, Key: here.Key}}, "jobs.nats.tls.cert with key cannot be used"},
		"client of another":   {mutual, NATSConfig{TLS: clientOf(other, ca, soon)}, "does not accept the client certificate (jobs.nats.tls.cert)"},
		"client expired":      {mutual, NATSConfig{TLS: clientOf(ca, ca, past)}, "does not accept the client certificate (jobs.nats.tls.cert)"},
		"another name":        {overTLS(t, ca.Issue(soon, "nats.example.com"), ""), NATSConfig{TLS: mine}, "has a certificate for another name (jobs.nats.tls.serverName)"},
		"name is given":       {overTLS(t, ca.Issue(soon, "nats.example.com"), ""), NATSConfig{TLS: TLSConfig{CA: ca.File, ServerName: "nats.example.com"}}, ""},
		"service":             {overTLS(t, ca.Issue(soon, "nats.platform.svc"), ""), NATSConfig{Service: inCluster, TLS: mine}, ""},
		"service by wildcard": {overTLS(t, ca.Issue(soon, "*.platform.svc.cluster.local"), ""), NATSConfig{Service: inCluster, TLS: TLSConfig{CA: ca.File, ServerName: "nats.platform.svc.cluster.local"}}, ""},
		"another service":     {overTLS(t, ca.Issue(soon, "nats.shop.svc"), ""), NATSConfig{Service: inCluster, TLS: mine}, "has a certificate for another name (jobs.nats.tls.serverName)"},
		"TLS and password":    {both(overTLS(t, here, ""), password), NATSConfig{User: "berth", Password: hush, TLS: mine}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := startNATS(t, t.TempDir(), -1, c.server)
			var dialer Dialer
			if c.config.Service.Name == "" {
				c.config.URL = "nats://" + s.Addr().String()
			} else {
				dialer = always{s.Addr().String()}
			}
			n := OpenNATS(c.config, Retention, dialer)
			t.Cleanup(n.Close)
			record(t, n, c.says)
		})
	}
}

func both(a, b func(*server.Options)) func(*server.Options) {
	return func(o *server.Options) { a(o); b(o) }
}

// clientOf trusts one authority and has a certificate of another.
func clientOf(by, trusted *certtest.Authority, until time.Time) TLSConfig {
	pair := by.Issue(until, "berth")
	return TLSConfig{CA: trusted.File, Cert: pair.Cert, Key: pair.Key}
}

// record keeps the record of a job: in NATS, or where that cannot be, in the
// cluster with a warning that says this.
func record(t *testing.T, n *NATS, says string) {
	t.Helper()
	cluster := clusterFor(t, time.Now)
	r := NewRecorder(withSpare(n, n, cluster), time.Now)
	stream := event.NewStream("alice-1", time.Now, r)
	r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
	stream.Stage(v1.Snapshot{Stage: v1.StageRunning, Status: v1.StageRunning.Status()})
	began := time.Now()
	stream.Finish(v1.Result{})
	if took := time.Since(began); took > lastTime+time.Second {
		t.Errorf("the end took %s", took)
	}
	problem := r.Problem()
	spare, err := cluster.Client.CoreV1().ConfigMaps("team").List(t.Context(), metav1.ListOptions{LabelSelector: LabelPendingMove})
	check(t, err)
	if says == "" {
		if got, err := n.Get(t.Context(), "a"); problem != nil || err != nil || got.Status != Completed || len(spare.Items) != 0 {
			t.Errorf("%v; %v: %+v, %d in the cluster", problem, err, got, len(spare.Items))
		}
		return
	}
	if problem == nil || len(spare.Items) != 1 {
		t.Fatalf("%v, %d in the cluster", problem, len(spare.Items))
	}
	if !strings.Contains(problem.Error(), says) {
		t.Errorf("it says %q, not %q", problem, says)
	}
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v", problem, problem, problem), fmt.Sprintf("%+v %#v", n.config, n.config)} {
		if strings.Contains(shown, hush) || strings.Contains(shown, wrong) {
			t.Errorf("a secret is printed: %s", shown)
		}
	}
}

// A server that was away and then refuses is told from one that is away.
func TestRefusalAfterAnAbsence(t *testing.T) {
	ca := certtest.New(t)
	s := startNATS(t, t.TempDir(), -1, nil)
	port := portOf(s)
	s.Shutdown()
	s.WaitForShutdown()
	n := openNATS(t, NATSConfig{URL: fmt.Sprintf("nats://127.0.0.1:%d", port)})
	if err := n.Put(t.Context(), Record{ID: "a"}); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "jobs.nats.url") {
		t.Errorf("%v", err)
	}
	startNATS(t, t.TempDir(), port, overTLS(t, ca.Issue(time.Now().Add(time.Hour), "127.0.0.1"), ""))
	until(t, func() bool {
		err := n.Put(t.Context(), Record{ID: "a"})
		return fault.CodeOf(err) == fault.Unauthenticated && strings.Contains(err.Error(), "jobs.nats.tls.ca")
	})
}

// A user who may neither make the bucket nor use it is told so, and a bucket
// that was made for them is enough for one who may only do the latter.
func TestBucketThatMayNotBeMade(t *testing.T) {
	publish := func(subjects ...string) func(*server.Options) {
		return func(o *server.Options) {
			o.Users = []*server.User{
				{Username: "admin", Password: hush},
				{Username: "berth", Password: hush, Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: subjects}}},
			}
		}
	}
	use := []string{"$KV." + Bucket + ".>", "$JS.API.STREAM.INFO.KV_" + Bucket, "$JS.API.DIRECT.GET.KV_" + Bucket + ".>"}
	s := startNATS(t, t.TempDir(), -1, publish(use...))
	mine := NATSConfig{URL: s.ClientURL(), User: "berth", Password: hush}
	record(t, openNATS(t, mine), "does not allow this user (jobs.nats) what the bucket workspace-provision-jobs takes")
	admin := openNATS(t, NATSConfig{URL: s.ClientURL(), User: "admin", Password: hush})
	check(t, admin.Put(t.Context(), Record{ID: "b"}))
	record(t, openNATS(t, mine), "")
}

// A server without JetStream is told from one that is away.
func TestWithoutJetStream(t *testing.T) {
	s := startNATS(t, t.TempDir(), -1, func(o *server.Options) { o.JetStream = false })
	record(t, openNATS(t, NATSConfig{URL: s.ClientURL()}), "has no JetStream")
}
