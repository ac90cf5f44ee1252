package dependency_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// A name that helm has for a repository is its URL, with the login for it: for the user whose helm that is. For a
// server, which reads nobody's configuration, it is the URL in the lock.
func TestNamesOfHelm(t *testing.T) {
	s := newServer(t)
	s.add(t, "db", "1.0.0", chartOf("db", "1.0.0"))
	s.login = "u:p"
	known := "repositories:\n- {name: known, url: '" + s.url + "/charts', username: u, password: p}\n"
	at := func(repository string) files {
		return chartOf("app", "1.0.0", "name: db, version: ^1, repository: '"+repository+"'")
	}
	locked := at("@known").with("", files{"Chart.lock": at(s.url+"/charts").locked(t, "1.0.0")["Chart.lock"]})
	elsewhere := at("@known").with("", files{"Chart.lock": at(s.url+"/other").locked(t, "1.0.0")["Chart.lock"]})
	for name, test := range map[string]struct {
		chart  files
		known  string
		server bool
		open   bool // takes no login
		code   fault.Code
		says   string
	}{
		"@":                 {chart: at("@known"), known: known},
		"alias:":            {chart: at("alias:known"), known: known},
		"its URL":           {chart: at(s.url + "/charts/"), known: known},
		"locked":            {chart: locked, known: known},
		"locked elsewhere":  {chart: elsewhere, known: known, code: fault.InvalidArgument, says: "out of sync"},
		"locked, not known": {chart: locked, open: true},
		"not known": {
			chart: at("@known"), code: fault.InvalidArgument, says: "helm knows no repository @known",
		},
		"the URL, not known": {
			chart: at(s.url + "/charts"), code: fault.Unauthenticated, says: "requires a login",
		},
		"a server": {
			chart: at("@known"), known: known, server: true, code: fault.InvalidArgument,
			says: "@known is a name that somebody's helm has",
		},
		"a server, locked": {chart: locked, known: known, server: true, open: true},
		"a server, without a login": {
			chart: locked, known: known, server: true, code: fault.Unauthenticated, says: "requires a login",
		},
		"a broken file": {
			chart: at("@known"), known: "repositories: [", code: fault.InvalidArgument,
			says: "repositories.yaml cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			home := files{"repositories.yaml": test.known}.write(t)
			f.Getenv = func(name string) string { return map[string]string{"HELM_CONFIG_HOME": home}[name] }
			if test.server {
				t.Setenv("HELM_CONFIG_HOME", home)
				f.Getenv = nil
			}
			s.login = "u:p"
			if test.open {
				s.login = ""
			}
			c, err := ofDirectory(t.Context(), t, f, test.chart)
			if test.code != "" {
				if !says(err, test.code, test.says) {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := names(t, c); !strings.Contains(got, "charts/db-1.0.0/") {
				t.Error(got)
			}
		})
	}
}

// The index of a repository may lead to a registry, where the login of the repository does not go.
func TestRepositoryLeadsToRegistry(t *testing.T) {
	s, registry := newServer(t), newServer(t)
	registry.add(t, "db", "1.0.0", chartOf("db", "1.0.0"))
	s.index["db"], s.login = []string{"1.0.0"}, "u:p"
	sent := 0
	registry.mislead = func(_ http.ResponseWriter, r *http.Request) bool {
		sent += len(r.Header["Authorization"])
		return false
	}
	host := strings.TrimPrefix(registry.url, "http://")
	for name, test := range map[string]struct {
		leads string
		says  string // nothing if it is fetched
	}{
		"with a tag":    {"oci://" + host + "/oci/db:1.0.0", ""},
		"without":       {"oci://" + host + "/oci/db", ""},
		"of no image":   {"oci://" + host + "/oci/gone:1.0.0", "not found"},
		"with a login":  {"oci://u:hunter2@" + host + "/oci/db:1.0.0", "without a login"},
		"with a query":  {"oci://" + host + "/oci/db:1.0.0?x=hunter2", "without a login"},
		"with no image": {"oci://", "without a login"},
	} {
		t.Run(name, func(t *testing.T) {
			s.leads = map[string]string{"db": test.leads}
			f := newFetcher(t)
			home := files{
				"repositories.yaml": "repositories:\n- {name: known, url: '" + s.url +
					"/charts', username: u, password: p}\n",
			}.write(t)
			f.Getenv = func(name string) string { return map[string]string{"HELM_CONFIG_HOME": home}[name] }
			c, err := ofDirectory(t.Context(), t, f, chartOf("app", "1.0.0", s.repository("db", "^1")))
			if sent > 0 {
				t.Error("the registry was sent a login")
			}
			if err != nil {
				if test.says == "" || !strings.Contains(err.Error(), test.says) ||
					strings.Contains(err.Error(), "hunter2") {
					t.Error(err)
				}
				return
			}
			defer c.Close()
			if got := names(t, c); test.says != "" || !strings.Contains(got, "charts/db-1.0.0/") {
				t.Error(got)
			}
		})
	}
}
