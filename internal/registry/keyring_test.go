package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// The login of the most specific path wins, as in Kubernetes.
func TestSecretKeyring(t *testing.T) {
	k, err := SecretKeyring(map[string][]byte{".dockerconfigjson": []byte(`{"auths": {
		"registry.example.com": {"username": "host", "password": "1"},
		"https://registry.example.com/v2/team": {"auth": "dGVhbToy"},
		"registry.example.com/team/app": {"identitytoken": "3"},
		"*.example.com": {"username": "pattern", "password": "4"},
		"registry.example.com:5000": {"username": "port", "password": "5"},
		"https://index.docker.io/v1/": {"username": "hub", "password": "6"},
		"broken.example.net": {"auth": "?"},
		"empty.example.net": {}
	}, "credsStore": "evil", "credHelpers": {"other.example.net": "evil"}}`)}, "secret/pull")
	if err != nil {
		t.Fatal(err)
	}
	for repository, want := range map[string]string{
		"registry.example.com/x":             "host 1",
		"registry.example.com/teams":         "host 1",
		"registry.example.com/team":          "team 2",
		"registry.example.com/team/web":      "team 2",
		"registry.example.com/team/app":      "<token> 3",
		"registry.example.com/team/app/sub":  "<token> 3",
		"other.example.com/x":                "pattern 4",
		"a.b.example.com/x":                  " ",
		"registry.example.com:5000/x":        "port 5",
		"registry.example.com:6000/x":        " ",
		"docker.io/library/alpine":           "hub 6",
		"registry.example.com.evil.net/team": " ",
		"other.example.net/x":                " ",
		"empty.example.net/x":                " ",
	} {
		c, err := k.Login(t.Context(), repository)
		if got := c.Username + " " + c.Token.Reveal(); err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v", repository, got, want, err)
		}
	}
	if _, err := k.Login(t.Context(), "broken.example.net/x"); fault.CodeOf(err) != fault.InvalidArgument ||
		!strings.Contains(err.Error(), "broken.example.net in secret/pull") {
		t.Error(err)
	}
	for _, data := range []map[string][]byte{{}, {".dockerconfigjson": []byte("{")}, {".dockercfg": []byte("[]")}} {
		if _, err := SecretKeyring(data, "secret/pull"); fault.CodeOf(err) != fault.InvalidArgument ||
			fault.From(err).Hint == "" {
			t.Error(err)
		}
	}
	old, err := SecretKeyring(map[string][]byte{
		".dockercfg": []byte(`{"a.example.com": {"username": "u", "password": "p"}}`),
	}, "secret/old")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := old.Login(t.Context(), "a.example.com/x"); err != nil || c.Username != "u" || c.From != "secret/old" {
		t.Errorf("%+v %v", c, err)
	}
	var none *Keyring
	if c, err := none.Login(t.Context(), "a/b"); err != nil || !c.Anonymous() {
		t.Errorf("%+v %v", c, err)
	}
}

// Docker's own configuration, with the helpers that it names.
func TestDockerKeyring(t *testing.T) {
	skiptest.OnWindows(t, "the helpers of this test are scripts of a shell")
	dir := t.TempDir()
	helper := func(name, script string) {
		if err := os.WriteFile(filepath.Join(dir, "docker-credential-"+name), []byte("#!/bin/sh\n"+script+"\n"),
			0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	helper("all", `read -r server; [ "$server" = https://index.docker.io/v1/ ] || { echo "credentials not found in `+
		`native keychain"; exit 1; }; echo '{"ServerURL": "x", "Username": "hub", "Secret": "1"}'`)
	helper("one", `echo '{"Username": "<token>", "Secret": "2"}'`)
	helper("broken", `echo secret-thing; exit 1`)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	config := `{"auths": {"file.example.com": {"username": "file", "password": "3"}, "one.example.com": {}},
		"credsStore": "all",
		"credHelpers": {"one.example.com": "one", "broken.example.com": "broken", "none.example.com": "none"}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := DockerKeyring(func(name string) string { return map[string]string{"DOCKER_CONFIG": dir}[name] })
	if err != nil {
		t.Fatal(err)
	}
	for repository, want := range map[string]string{
		"docker.io/library/alpine": "hub 1", "one.example.com/x": "<token> 2", "file.example.com/x": "file 3",
		"other.example.com/x": " ",
	} {
		c, err := k.Login(t.Context(), repository)
		if got := c.Username + " " + c.Token.Reveal(); err != nil || got != want {
			t.Errorf("%s: %q, want %q: %v", repository, got, want, err)
		}
	}
	for _, host := range []string{"broken.example.com", "none.example.com"} {
		_, err := k.Login(t.Context(), host+"/x")
		if fault.CodeOf(err) != fault.Unauthenticated ||
			strings.Contains(fmt.Sprintf("%+v", *fault.From(err)), "secret-thing") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if k, err := DockerKeyring(func(string) string { return "" }); k != nil || err != nil {
		t.Errorf("%v %v", k, err)
	}
	if k, err := DockerKeyring(func(string) string { return filepath.Join(dir, "none") }); k != nil || err != nil {
		t.Errorf("%v %v", k, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := DockerKeyring(func(string) string { return dir }); fault.CodeOf(err) != fault.InvalidArgument {
		t.Error(err)
	}
}
