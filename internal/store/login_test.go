package store_test

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
	"github.com/nats-io/nats.go"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
	"github.com/berthdev/berth/internal/waittest"
)

// overTLS makes a server require TLS, and of its clients a certificate of an
// authority if one is given.
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

// Each way to log in works. Where one does not, the error comes at once, and names the
// cause and the key of the configuration.
func TestLogins(t *testing.T) {
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	valid, expired, trusted := credentials(t)
	ca, other := certtest.New(t), certtest.New(t)
	here, client := ca.Issue(soon, "127.0.0.1"), ca.Issue(soon, "berth")
	inCluster := store.ServiceConfig{Namespace: "platform", Name: "nats"}
	password := func(o *server.Options) { o.Username, o.Password = "berth", hush }
	token := func(o *server.Options) { o.Authorization = hush }
	mine := store.TLSConfig{CA: ca.File}
	mutual := overTLS(t, here, ca.File)
	const refused, unusable = fault.Unauthenticated, fault.InvalidArgument
	for name, c := range map[string]struct {
		server func(*server.Options)
		config store.NATSConfig
		code   fault.Code // none where it works
		says   string
	}{
		"user and password": {password, store.NATSConfig{User: "berth", Password: hush}, "", ""},
		"wrong password": {
			password,
			store.NATSConfig{User: "berth", Password: wrong},
			refused,
			"rejects the user and password (jobs.nats.user, jobs.nats.password)",
		},
		"no login": {
			password,
			store.NATSConfig{},
			refused,
			"requires a login (jobs.nats.user, jobs.nats.token or jobs.nats.credentials)",
		},
		"token":       {token, store.NATSConfig{Token: hush}, "", ""},
		"wrong token": {token, store.NATSConfig{Token: wrong}, refused, "rejects the token (jobs.nats.token)"},
		"credentials": {trusted, store.NATSConfig{Credentials: valid}, "", ""},
		"expired": {
			trusted,
			store.NATSConfig{Credentials: expired},
			refused,
			"rejects the credentials, which expired at 2023-11-14T22:13:20Z (jobs.nats.credentials)",
		},
		"another account": {
			trusted,
			store.NATSConfig{Credentials: func() string { f, _, _ := credentials(t); return f }()},
			refused,
			"rejects the credentials (jobs.nats.credentials)",
		},
		"no such file": {
			trusted,
			store.NATSConfig{Credentials: "/none"},
			unusable,
			"jobs.nats.credentials cannot be used: open /none",
		},
		"no credentials": {
			trusted,
			store.NATSConfig{Credentials: file(t, hush)},
			unusable,
			"jobs.nats.credentials cannot be used",
		},
		"own authority": {overTLS(t, here, ""), store.NATSConfig{TLS: mine}, "", ""},
		"unknown authority": {
			overTLS(t, here, ""),
			store.NATSConfig{},
			refused,
			"has a certificate of a CA that is unknown to the system (jobs.nats.tls.ca)",
		},
		"wrong authority": {
			overTLS(t, here, ""),
			store.NATSConfig{TLS: store.TLSConfig{CA: other.File}},
			refused,
			"has a certificate of another CA than jobs.nats.tls.ca",
		},
		"no authority": {
			overTLS(t, here, ""),
			store.NATSConfig{TLS: store.TLSConfig{CA: "/none"}},
			unusable,
			"jobs.nats.tls.ca cannot be used: nats: error loading or parsing rootCA file: open /none",
		},
		"not an authority": {
			overTLS(t, here, ""),
			store.NATSConfig{TLS: store.TLSConfig{CA: here.Key}},
			unusable,
			"jobs.nats.tls.ca cannot be used: nats: failed to parse root certificate from",
		},
		"server expired": {
			overTLS(t, ca.Issue(past, "127.0.0.1"), ""),
			store.NATSConfig{TLS: mine},
			refused,
			"has a certificate that has expired or is not yet valid (jobs.nats.tls)",
		},
		"no TLS there": {
			nil,
			store.NATSConfig{TLS: mine},
			refused,
			"does not offer TLS, which jobs.nats.tls requires",
		},
		"mutual": {
			mutual,
			store.NATSConfig{TLS: store.TLSConfig{CA: ca.File, Cert: client.Cert, Key: client.Key}},
			"", "",
		},
		"no certificate": {
			mutual,
			store.NATSConfig{TLS: mine},
			refused,
			"requires a client certificate (jobs.nats.tls.cert, jobs.nats.tls.key)",
		},
		"not of this key": {
			mutual,
			store.NATSConfig{TLS: store.TLSConfig{CA: ca.File, Cert: client.Cert, Key: here.Key}},
			unusable,
			"jobs.nats.tls.cert with key cannot be used",
		},
		"client of another": {
			mutual,
			store.NATSConfig{TLS: clientOf(other, ca, soon)},
			refused,
			"rejects the client certificate (jobs.nats.tls.cert)",
		},
		"client expired": {
			mutual,
			store.NATSConfig{TLS: clientOf(ca, ca, past)},
			refused,
			"rejects the client certificate (jobs.nats.tls.cert)",
		},
		"another name": {
			overTLS(t, ca.Issue(soon, "nats.example.com"), ""),
			store.NATSConfig{TLS: mine},
			refused,
			"has a certificate for another hostname (jobs.nats.tls.serverName)",
		},
		"name is given": {
			overTLS(t, ca.Issue(soon, "nats.example.com"), ""),
			store.NATSConfig{TLS: store.TLSConfig{CA: ca.File, ServerName: "nats.example.com"}},
			"", "",
		},
		"service": {
			overTLS(t, ca.Issue(soon, "nats.platform.svc"), ""),
			store.NATSConfig{Service: inCluster, TLS: mine},
			"", "",
		},
		"service by wildcard": {
			overTLS(t, ca.Issue(soon, "*.platform.svc.cluster.local"), ""),
			store.NATSConfig{
				Service: inCluster,
				TLS:     store.TLSConfig{CA: ca.File, ServerName: "nats.platform.svc.cluster.local"},
			},
			"", "",
		},
		"another service": {
			overTLS(t, ca.Issue(soon, "nats.shop.svc"), ""),
			store.NATSConfig{Service: inCluster, TLS: mine},
			refused,
			"has a certificate for another hostname (jobs.nats.tls.serverName)",
		},
		"TLS and password": {
			both(overTLS(t, here, ""), password),
			store.NATSConfig{User: "berth", Password: hush, TLS: mine},
			"", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.NATS(t, t.TempDir(), -1, c.server)
			var dialer nats.CustomDialer
			if c.config.Service.Name == "" {
				c.config.URL = "nats://" + s.Addr().String()
			} else {
				dialer = always{s.Addr().String()}
			}
			n := store.OpenNATS(c.config, setting, dialer)
			t.Cleanup(n.Close)
			uses(t, n.Bucket(bucket, "", keep), c.code, c.says)
			if shown := fmt.Sprintf("%+v %#v", c.config, c.config); strings.Contains(shown, hush) ||
				strings.Contains(shown, wrong) {
				t.Errorf("a secret is printed: %s", shown)
			}
		})
	}
}

func both(a, b func(*server.Options)) func(*server.Options) {
	return func(o *server.Options) { a(o); b(o) }
}

// clientOf trusts one authority and has a certificate of another.
func clientOf(by, trusted *certtest.Authority, until time.Time) store.TLSConfig {
	pair := by.Issue(until, "berth")
	return store.TLSConfig{CA: trusted.File, Cert: pair.Cert, Key: pair.Key}
}

// uses writes a document and reads it again, or fails with that code, without
// waiting for the deadline. (A server that denies a request does not answer it: it
// reports that asynchronously, and the request waits.)
func uses(t *testing.T, b *store.Bucket, code fault.Code, says string) {
	t.Helper()
	ctx := within(t, waittest.Patience)
	if code == fault.PermissionDenied {
		ctx = within(t, 5*time.Second)
	}
	_, err := b.Put(ctx, store.Document{Key: "a", Value: []byte("x")})
	if ctx.Err() != nil && code != fault.PermissionDenied {
		t.Errorf("it took %s", waittest.Patience)
	}
	if code == "" {
		if d, getErr := b.Get(t.Context(), "a"); err != nil || getErr != nil || string(d.Value) != "x" {
			t.Errorf("%v; %+v, %v", err, d, getErr)
		}
		return
	}
	if fault.CodeOf(err) != code || !strings.Contains(fmt.Sprint(err), says) {
		t.Fatalf("%s: %v; want %s: %q", fault.CodeOf(err), err, code, says)
	}
	if shown := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(shown, hush) ||
		strings.Contains(shown, wrong) {
		t.Errorf("a secret is printed: %s", shown)
	}
}

// A server that was away and then refuses is not taken for one that is away.
func TestRefusalAfterAnAbsence(t *testing.T) {
	ca := certtest.New(t)
	s := storetest.NATS(t, t.TempDir(), -1, nil)
	port := storetest.Port(t, s)
	s.Shutdown()
	s.WaitForShutdown()
	b := openBucket(t, store.NATSConfig{URL: fmt.Sprintf("nats://127.0.0.1:%d", port)})
	if _, err := b.Put(within(t, time.Second), store.Document{Key: "a"}); fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "jobs.nats.url") {
		t.Errorf("while it is away: %v", err)
	}
	storetest.NATS(t, t.TempDir(), port, overTLS(t, ca.Issue(time.Now().Add(time.Hour), "127.0.0.1"), ""))
	waittest.Until(t, "the certificate is refused", func() bool {
		_, err := b.Put(t.Context(), store.Document{Key: "a"})
		return fault.CodeOf(err) == fault.Unauthenticated && strings.Contains(err.Error(), "jobs.nats.tls.ca")
	})
}

// A user who may neither create nor use the bucket gets an error that names it, and an
// existing bucket is enough for one who may only use it.
func TestBucketThatMayNotBeCreated(t *testing.T) {
	use := []string{"$KV." + bucket + ".>", "$JS.API.STREAM.INFO.KV_" + bucket, "$JS.API.DIRECT.GET.KV_" + bucket +
		".>"}
	s := storetest.NATS(t, t.TempDir(), -1, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "admin", Password: hush},
			{
				Username: "berth", Password: hush,
				Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: use}},
			},
		}
	})
	mine := store.NATSConfig{URL: s.ClientURL(), User: "berth", Password: hush}
	uses(t, openBucket(t, mine), fault.PermissionDenied, "does not allow this user (jobs.nats) to use the bucket test")
	_, err := openBucket(t, store.NATSConfig{URL: s.ClientURL(), User: "admin", Password: hush}).
		Put(t.Context(), store.Document{Key: "b"})
	check(t, err)
	uses(t, openBucket(t, mine), "", "")
}

// A server without JetStream is not taken for one that is away.
func TestWithoutJetStream(t *testing.T) {
	s := storetest.NATS(t, t.TempDir(), -1, func(o *server.Options) { o.JetStream = false })
	uses(t, openBucket(t, store.NATSConfig{URL: s.ClientURL()}), fault.Unavailable, "has no JetStream")
}
