package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func TestJobs(t *testing.T) {
	t.Setenv("NATS_PASSWORD", "hush")
	file := write(t, `jobs:
  store: nats
  retention: 24h
  nats:
    service: {namespace: platform, name: nats, port: 4223}
    user: berth
    password: ${NATS_PASSWORD}
    tls: {ca: ca.pem, serverName: nats.example.com}
`)
	c, err := load(t, file, "")
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	n := c.Jobs.NATS
	if c.Jobs.Store != "nats" || c.Jobs.Retention != "24h" || n.Service.Port != 4223 || string(n.Password) != "hush" ||
		n.TLS.ServerName != "nats.example.com" || n.TLS.CA != filepath.Join(filepath.Dir(file), "ca.pem") {
		t.Errorf("%+v", c.Jobs)
	}
	if strings.Contains(fmt.Sprintf("%+v %#v", c, c), "hush") {
		t.Error("the password is printed")
	}
	_, err = load(t, write(t, `jobs: {store: redis, retention: 1s, nats: {url: "nats://a", tls: {cert: x, `+
		`serverName: "a/b"}}}`), "")
	all := strings.Join(fault.From(err).Problems, "\n")
	for _, want := range []string{
		"jobs.store", "jobs.retention", "jobs.nats.tls: cert and key",
		"jobs.nats.tls.serverName",
	} {
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(all, want) {
			t.Errorf("%s is not in %q, %v", want, all, err)
		}
	}
}
