package dns

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/berthdev/berth/test/cluster/internal/kube"
)

// fakeAPI answers with JSON by path.
type fakeAPI map[string]string

func (f fakeAPI) Get(_ context.Context, path string, out any) error {
	path, _, _ = strings.Cut(path, "?")
	body, ok := f[path]
	switch {
	case !ok:
		return kube.ErrNotFound
	case body == "":
		return errors.New("connection refused")
	}
	return json.Unmarshal([]byte(body), out)
}

func api() fakeAPI {
	return fakeAPI{
		"/api/v1/namespaces/ns/services/plain":    `{"spec":{"clusterIP":"10.96.0.7"}}`,
		"/api/v1/namespaces/ns/services/headless": `{"spec":{"clusterIP":"None"}}`,
		"/api/v1/namespaces/ns/services/alias":    `{"spec":{"type":"ExternalName","externalName":"example.org"}}`,
		"/api/v1/namespaces/ns/services/broken":   ``,
		"/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices": `{"items":[{"endpoints":[
			{"addresses":["10.1.0.1"],"hostname":"alice","conditions":{"ready":true}},
			{"addresses":["10.1.0.2"],"hostname":"bob"},
			{"addresses":["10.1.0.3"],"hostname":"late","conditions":{"ready":false}}]}]}`,
	}
}

func TestAnswer(t *testing.T) {
	for name, want := range map[string]string{
		"plain.ns.svc.cluster.local.":          "10.96.0.7",
		"PLAIN.ns.svc.Cluster.Local.":          "10.96.0.7",
		"headless.ns.svc.cluster.local.":       "10.1.0.1 10.1.0.2",
		"bob.headless.ns.svc.cluster.local.":   "10.1.0.2",
		"alias.ns.svc.cluster.local.":          "example.org.",
		"late.headless.ns.svc.cluster.local.":  "NXDOMAIN",
		"carol.headless.ns.svc.cluster.local.": "NXDOMAIN",
		"other.ns.svc.cluster.local.":          "NXDOMAIN",
		"ns.svc.cluster.local.":                "NXDOMAIN",
		"a.b.plain.ns.svc.cluster.local.":      "NXDOMAIN",
		"registry.example.org.":                "NXDOMAIN",
		"broken.ns.svc.cluster.local.":         "SERVFAIL",
	} {
		if got := ask(name, dns.TypeA); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// A name that exists has no IPv6 address, which is not the same as no name.
func TestOtherFamily(t *testing.T) {
	if got := ask("plain.ns.svc.cluster.local.", dns.TypeAAAA); got != "" {
		t.Errorf("got %q, want an empty answer", got)
	}
}

func ask(name string, kind uint16) string {
	reply := answer(context.Background(), api(), new(dns.Msg).SetQuestion(name, kind))
	if reply.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[reply.Rcode]
	}
	var values []string
	for _, rr := range reply.Answer {
		fields := strings.Fields(rr.String())
		values = append(values, fields[len(fields)-1])
	}
	return strings.Join(values, " ")
}
