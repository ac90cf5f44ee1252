package provider

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
)

// hub answers like GitHub's API, as far as it is asked here. It fails the test
// if a token arrives that is not the right one.
func hub(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(pattern string, status int, text string, headers ...string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, text)
		})
	}
	content := func(text string) string {
		return fmt.Sprintf(`{"type":"file","encoding":"base64","size":%d,"content":%q}`, len(text),
			base64.StdEncoding.EncodeToString([]byte(text)))
	}
	const notFound = `{"message":"Not Found","documentation_url":"https://docs.github.com/rest","status":"404"}`
	answer("/users/alice", 200, `{"login":"Alice","type":"User","name":"Alice `+
		`Liddell","email":"a@example.com","company":"@evil"}`)
	answer("/users/away", 200, `{"login":"away","type":"User","suspended_at":"2026-01-01T00:00:00Z"}`)
	answer("/users/acme", 200, `{"login":"acme","type":"Organization"}`)
	answer("/users/limited", 403, `{"message":"API rate limit exceeded for 192.0.2.1."}`,
		"X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1800000000")
	answer("/users/slowdown", 403,
		`{"message":"You have exceeded a secondary rate limit.","documentation_url":`+
			`"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`,
		"Retry-After", "30")
	answer("/users/unauthorized", 401, `{"message":"Bad credentials"}`)
	answer("/users/forbidden", 403, `{"message":"Resource protected by organization SAML enforcement."}`)
	answer("/users/broken", 502, `<html>Bad Gateway</html>`)
	answer("/user", 200, `{"login":"Alice","type":"User"}`)
	answer("/orgs/acme/memberships/alice", 200, `{"state":"active","role":"admin"}`)
	answer("/orgs/other/memberships/alice", 404, notFound)
	answer("/orgs/invited/memberships/alice", 200, `{"state":"pending","role":"member"}`)
	answer("/repos/org/proj", 200, `{"full_name":"org/proj"}`)
	answer("/repos/org/bare", 200, `{"full_name":"org/bare"}`)
	answer("/repos/org/bare/contents/.k8shell.yaml", 404, notFound)
	answer("/repos/org/dir/contents/.k8shell.yaml", 200, `[{"type":"file","name":"a"}]`)
	mux.HandleFunc("/repos/org/proj/contents/.k8shell.yaml", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch ref := r.URL.Query().Get("ref"); ref {
		case "", "Main", "v1":
			fmt.Fprint(w, content("template: dev # "+ref))
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"message":"No commit found for the ref %s","status":"404"}`, ref)
		}
	})
	answer("/repositories/7/contents/.k8shell.yaml", 200, content("template: renamed"))
	mux.HandleFunc("/repos/org/old/contents/.k8shell.yaml", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/repositories/7/contents/.k8shell.yaml", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, notFound)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" && got != "Bearer "+token {
			t.Errorf("the token arrived as %q", got)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func githubAt(t *testing.T, server, organization string) *gitHub {
	t.Helper()
	base, err := url.Parse(server + "/")
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGitHub(base, organization,
		&credential.Source{Env: "HUB_TOKEN", Getenv: func(string) string { return token }})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGitHubUsers(t *testing.T) {
	server := hub(t)
	for _, test := range []struct {
		username, organization string
		code                   fault.Code
		reason, says           string
	}{
		{"alice", "", "", "", ""},
		{"alice", "acme", "", "", ""},
		{"alice", "other", fault.Unauthenticated, identity.ReasonUnknown, "user alice is unknown"},
		{"alice", "invited", fault.Unauthenticated, identity.ReasonUnknown, "user alice is unknown"},
		{"nobody", "", fault.Unauthenticated, identity.ReasonUnknown, "user nobody is unknown"},
		{"acme", "", fault.Unauthenticated, identity.ReasonUnknown, ""},
		{"away", "", fault.PermissionDenied, identity.ReasonLocked, "locked"},
		{
			"limited", "", fault.Unavailable, identity.ReasonUnavailable,
			"rate limit exceeded until 2027-01-15T08:00:00Z",
		},
		{"slowdown", "", fault.Unavailable, identity.ReasonUnavailable, "rate limit exceeded; retry after 30s"},
		{
			"unauthorized", "", fault.Unauthenticated, credential.ReasonRejected,
			"rejected the token from the variable HUB_TOKEN",
		},
		{"forbidden", "", fault.PermissionDenied, credential.ReasonRejected, "SAML"},
		{"broken", "", fault.Unavailable, identity.ReasonUnavailable, "502"},
	} {
		chain := identity.Chain{{
			Name: "github", Users: githubAt(t, server.URL, test.organization),
			Timeout: time.Minute,
		}}
		user, err := chain.Resolve(t.Context(), test.username)
		if fault.CodeOf(err) != test.code || fault.ReasonOf(err) != test.reason || err != nil &&
			!strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %s %s %v", test.username, fault.CodeOf(err), fault.ReasonOf(err), err)
		}
		if err != nil && (strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), token) || fault.From(err).Hint == "") {
			t.Errorf("%s: %+v", test.username, *fault.From(err))
		}
		// What users say about their company is not believed.
		if err == nil && (user.Organization != test.organization || user.Fullname != "Alice Liddell" ||
			user.UID != 1000) {
			t.Errorf("%s: %+v", test.username, user)
		}
	}
	if caller, err := githubAt(t, server.URL, "").Caller(t.Context()); caller != "alice" || err != nil {
		t.Errorf("%q, %v", caller, err)
	}
}

func TestGitHubRepositories(t *testing.T) {
	server := hub(t)
	for _, test := range []struct {
		user, yaml string // yaml is empty for nil
		code       fault.Code
		reason     string
	}{
		{"alice~repo=org/proj", "template: dev # ", "", ""},
		{"alice~repo=org/proj+ref=Main", "template: dev # Main", "", ""},
		{"alice~repo=org/proj+ref=V1", "template: dev # v1", "", ""}, // typed first, then lowered
		{"alice~repo=org/proj+ref=nope", "", fault.NotFound, ""},
		{"alice~repo=org/bare", "", "", ""},
		{"alice~repo=org/none", "", fault.NotFound, git.ReasonNotVisible},
		{"alice~repo=org/old", "template: renamed", "", ""},
		{"alice~repo=org/dir", "", fault.InvalidArgument, ""},
	} {
		u, err := userstring.Parse(test.user)
		if err != nil {
			t.Fatal(err)
		}
		custom, err := githubAt(t, server.URL, "").Custom(t.Context(), u)
		if fault.CodeOf(err) != test.code || fault.ReasonOf(err) != test.reason {
			t.Errorf("%s: %v", test.user, err)
		}
		if got := yamlOf(custom); got != test.yaml {
			t.Errorf("%s is %q, want %q", test.user, got, test.yaml)
		}
	}
}

func yamlOf(c *blueprint.Source) string {
	if c == nil {
		return ""
	}
	return string(c.Text)
}

// A redirect to another host is followed, without the token.
func TestGitHubTokenStaysAtHome(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the other host was shown %q", got)
		}
		fmt.Fprint(w, `{"login":"alice","type":"User"}`)
	}))
	t.Cleanup(other.Close)
	shown := ""
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(home.Close)
	_, err := githubAt(t, home.URL, "").Resolve(t.Context(), "alice")
	if asked != 1 || shown != "Bearer "+token {
		t.Errorf("asked %d times, home was shown %q: %v", asked, shown, err)
	}
}

func TestGitHubUnreachable(t *testing.T) {
	chain := identity.Chain{{Name: "github", Users: githubAt(t, "http://127.0.0.1:1", ""), Timeout: time.Minute}}
	_, err := chain.Resolve(t.Context(), "alice")
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "identity provider github") {
		t.Error(err)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().
			Done()
	}))
	t.Cleanup(silent.Close)
	chain = identity.Chain{{Name: "github", Users: githubAt(t, silent.URL, ""), Timeout: 50 * time.Millisecond}}
	if _, err = chain.Resolve(t.Context(), "alice"); fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "did not answer within 50ms") {
		t.Error(err)
	}
}
