package credential

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/fault"
)

func TestSource(t *testing.T) {
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	getenv := func(name string) string { return map[string]string{"A": " " + token + "\n", "USUAL": "other"}[name] }
	for name, test := range map[string]struct {
		source            *Source
		token, from, says string
	}{
		"nil":                {nil, "", "", ""},
		"none":               {&Source{Getenv: getenv}, "", "", ""},
		"a variable":         {&Source{Env: "A", Getenv: getenv}, token, "the variable A", ""},
		"a variable not set": {&Source{Env: "B", Getenv: getenv}, "", "", "the variable B (tokenEnv) is not set"},
		"a file":             {&Source{File: write(token + "\n")}, token, "the file ", ""},
		"an empty file":      {&Source{File: write("\n")}, "", "", "is empty"},
		"a large file":       {&Source{File: write(strings.Repeat("x", maxFile+1))}, "", "", "is larger than 16 KiB"},
		"no such file": {
			&Source{File: "/nowhere"}, "", "",
			"tokenFile: open /nowhere: " + syscall.ENOENT.Error(),
		},
		"a usual variable": {
			&Source{Fallback: []string{"B", "USUAL"}, Getenv: getenv}, "other", "the variable USUAL",
			"",
		},
		"usual and configured": {
			&Source{Env: "A", Fallback: []string{"USUAL"}, Getenv: getenv}, token,
			"the variable A", "",
		},
		"usual and not set": {&Source{Env: "B", Fallback: []string{"USUAL"}, Getenv: getenv}, "", "", "is not set"},
	} {
		c, err := test.source.Get(t.Context())
		if c.Token.Reveal() != test.token || !strings.HasPrefix(c.From, test.from) ||
			(err != nil) != (test.says != "") {
			t.Errorf("%s: %q from %q, %v", name, c.Token.Reveal(), c.From, err)
		}
		if err != nil && (fault.CodeOf(err) != fault.Unauthenticated || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClient(t *testing.T) {
	var path, authorization string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, authorization = r.URL.Path, r.Header.Get("Authorization")
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/large":
			_, _ = w.Write(make([]byte, 2000))
		}
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	get := func(source *Source, scheme Scheme, path string) error {
		response, err := NewClient(base, source, scheme, 1000).Get(server.URL + path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = response.Body.Read(make([]byte, 2000))
		for err == nil {
			_, err = response.Body.Read(make([]byte, 2000))
		}
		return err
	}
	source := func(username string) *Source {
		return &Source{Username: username, Env: "A", Getenv: func(string) string { return token }}
	}
	request := func(username string) string {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.SetBasicAuth(username, token)
		return r.Header.Get("Authorization")
	}
	for name, test := range map[string]struct {
		source *Source
		scheme Scheme
		want   string
	}{
		"bearer":                   {source(""), Bearer, "Bearer " + token},
		"basic":                    {source("bot"), Basic, request("bot")},
		"basic without a username": {source(""), Basic, request("x-access-token")},
		"anonymous":                {nil, Basic, ""},
	} {
		if err := get(test.source, test.scheme, "/"+name); path != "/"+name || authorization != test.want {
			t.Errorf("%s: %s got %q: %v", name, path, authorization, err)
		}
	}
	if err := get(nil, Bearer, "/loop"); err == nil || !strings.Contains(err.Error(), "5 redirects") {
		t.Errorf("%v", err)
	}
	if err := get(nil, Bearer, "/large"); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}

// A token does not leave TLS.
func TestClientStaysEncrypted(t *testing.T) {
	client := NewClient(&url.URL{Scheme: "https", Host: "a.example.com"}, nil, Bearer, 1)
	via, _ := http.NewRequest(http.MethodGet, "https://a.example.com", http.NoBody)
	next, _ := http.NewRequest(http.MethodGet, "http://a.example.com", http.NoBody)
	if err := client.CheckRedirect(next, []*http.Request{via}); err == nil {
		t.Error("a redirect from https to http is followed")
	}
	if err := client.CheckRedirect(via, []*http.Request{next}); err != nil {
		t.Error(err)
	}
}

const token = "ghp_0123456789secret"

// However a token gets into an output, it is not in there.
func TestSecretsAreNeverPrinted(t *testing.T) {
	c := Credential{Username: "bot", Token: token, From: "the variable X"}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, c)
		fmt.Fprintf(&out, verb, &c)
		fmt.Fprintf(&out, verb, c.Token)
	}
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		text, err := marshal(map[string]any{"c": c, "t": c.Token})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", c.Token, "credential", c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", c.Token, "credential", c)

	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{
		"-v=10", "-logtostderr=false", "-alsologtostderr=false",
		"-stderrthreshold=4",
	}); err != nil {
		t.Fatal(err)
	}
	klog.SetOutput(&out)
	klog.InfoS("x", "token", c.Token, "credential", c)
	klog.V(10).Infof("%v %+v", c.Token, c)
	klog.Flush()
	for _, part := range []string{token, fmt.Sprintf("%x", token), fmt.Sprintf("%X", token)} {
		if strings.Contains(out.String(), part) {
			t.Errorf("%q is in:\n%s", part, out.String())
		}
	}
	if !strings.Contains(out.String(), "token") || !strings.Contains(out.String(), "***") {
		t.Errorf("nothing was written: %s", out.String())
	}
}
