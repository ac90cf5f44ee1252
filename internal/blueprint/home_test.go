package blueprint

import (
	"slices"
	"strings"
	"testing"
)

// storagesAt are storages by name, each mounted at a path.
func storagesAt(namesAndPaths ...string) map[string]Storage {
	all := map[string]Storage{}
	for i := 0; i < len(namesAndPaths); i += 2 {
		all[namesAndPaths[i]] = Storage{Type: StorageEmptyDir, Path: namesAndPaths[i+1]}
	}
	return all
}

// The home directory is where its storage is.
func TestHome(t *testing.T) {
	off := storagesAt("home", "/home/dev")
	off["home"] = Storage{Type: StorageEmptyDir, Path: "/home/dev", Enabled: new(bool)}
	for name, test := range map[string]struct {
		home         string
		storages     map[string]Storage
		dir, storage string
	}{
		"nothing said":             {"", nil, "", ""},
		"the storage called home":  {"", storagesAt("home", "/work", "other", "/home/dev"), "/work", "home"},
		"the only one below /home": {"", storagesAt("files", "/home/dev", "data", "/data"), "/home/dev", "files"},
		"the only one at /root":    {"", storagesAt("files", "/root", "cache", "/root/.cache"), "/root", "files"},
		"two of them":              {"", storagesAt("a", "/home/a", "b", "/home/b"), "", ""},
		"all homes":                {"", storagesAt("homes", "/home"), "", ""},
		"something in a home":      {"", storagesAt("cache", "/home/dev/.cache"), "", ""},
		"switched off":             {"", off, "", ""},
		"HOME alone":               {"/home/dev/", nil, "/home/dev", ""},
		"HOME in a storage":        {"/home/dev", storagesAt("homes", "/home"), "/home/dev", "homes"},
		"HOME in the innermost storage": {
			"/home/dev", storagesAt("homes", "/home", "home", "/home/dev", "x", "/home/de"),
			"/home/dev", "home",
		},
		"HOME elsewhere": {"/root", storagesAt("files", "/home/dev"), "/root", ""},
	} {
		b := Blueprint{Env: map[string]string{"HOME": test.home}, Storages: test.storages}
		if dir, storage := b.Home(); dir != test.dir || storage != test.storage {
			t.Errorf("%s: %q in storage %q, want %q in %q", name, dir, storage, test.dir, test.storage)
		}
	}
}

// A home that a user would take for the one that stays is refused, with what to write.
func TestContradictingHomesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		home     string
		storages map[string]Storage
		want     []string
	}{
		"elsewhere": {
			"/root", storagesAt("home", "/home/dev"),
			[]string{`env.HOME: "/root" is not in the storage home, which is mounted at "/home/dev": leave HOME out, ` +
				`or mount the storage there`},
		},
		"there":              {"/home/dev/", storagesAt("home", "/home/dev"), nil},
		"in it":              {"/home/dev", storagesAt("home", "/home"), nil},
		"in another storage": {"/work", storagesAt("home", "/home/dev", "work", "/work"), nil},
		"no such storage":    {"/root", storagesAt("files", "/home/dev"), nil},
		"not absolute, with a home": {
			"~", storagesAt("home", "/home/dev"),
			[]string{`env.HOME: invalid path "~": must be absolute`},
		},
		"not absolute": {"~", nil, []string{`env.HOME: invalid path "~": must be absolute`}},
	} {
		b := Blueprint{Image: "x", Env: map[string]string{"HOME": test.home}, Storages: test.storages}
		if problems := b.Validate(); !slices.Equal(problems, test.want) {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}

// Nothing is mounted over what a workspace runs on.
func TestPathsOfTheRuntimeAreRefused(t *testing.T) {
	for _, path := range []string{"/", "/k8shell", "/k8shell/runtime", "/k8shell/anything"} {
		b := Blueprint{Image: "x", Storages: storagesAt("x", path), ExtFiles: map[string]string{path: ""}}
		problems := b.Validate()
		if len(problems) != 2 || !strings.HasPrefix(problems[0], "storages.x.path: ") ||
			!strings.HasPrefix(problems[1], "extFiles: ") ||
			!strings.Contains(problems[0], "would hide what a workspace runs on") {
			t.Errorf("%s: %q", path, problems)
		}
	}
	b := Blueprint{
		Image: "x", Storages: storagesAt("x", "/k8shell-data", "y", "/usr/local", "z", "/k8"),
		ExtFiles: map[string]string{"/etc/team.conf": ""},
	}
	if problems := b.Validate(); len(problems) > 0 {
		t.Errorf("a platform may mount elsewhere: %q", problems)
	}
}

func TestPathsOfUsers(t *testing.T) {
	for _, test := range []struct {
		path, home string
		want       bool
	}{
		{"/home/dev", "", true},
		{"/home/dev/.cache", "", true},
		{"/data", "", true},
		{"/opt/tools", "", true},
		{"/tmp", "", true},
		{"/bin", "", false},
		{"/usr/local/bin", "", false},
		{"/", "/", false},
		{"/bin", "/", false},
		{"/var", "/var/lib/jenkins", false},
		{"/var/lib/jenkins", "/var/lib/jenkins", true},
		{"/var/lib/jenkins/cache", "/var/lib/jenkins", true},
		{"/var/lib/jenkins-old", "/var/lib/jenkins", false},
		{"/usr/share/x", "/usr/share/x", false},
		{"/data/../bin", "", false},
		{"/home/..", "", false},
		{"/home/../k8shell/git", "", false},
		{"/data/", "", true},
		{"/datax", "", false},
	} {
		if got := available(test.path, test.home); got != test.want {
			t.Errorf("%q with home %q: %t", test.path, test.home, got)
		}
	}
}
