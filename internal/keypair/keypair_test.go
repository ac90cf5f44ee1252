package keypair_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/keypair"
)

func TestNew(t *testing.T) {
	now := time.Now()
	hosts := []string{"web.ns.svc", "web.ns.svc.cluster.local", "web", "10.0.0.1"}
	pair, err := keypair.New(hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(loaded.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pair.CA)
	for at, good := range map[time.Time]bool{
		now: true, now.Add(keypair.Lifetime - time.Hour): true, now.Add(keypair.Lifetime + time.Hour): false,
	} {
		for _, host := range hosts {
			_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host, CurrentTime: at})
			if (err == nil) != good {
				t.Errorf("%s at %s: %v", host, at, err)
			}
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "other.ns.svc"}); err == nil {
		t.Error("it is good for another name")
	}
}
