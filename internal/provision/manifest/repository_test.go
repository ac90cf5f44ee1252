package manifest

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/blueprint"
)

// git gets its helper after what the environment configures, whatever is in there.
func TestConfigureGit(t *testing.T) {
	for count, want := range map[string]string{"": "0 1", "2": "2 3", "-3": "0 1", "x": "0 1"} {
		env := map[string]string{"GIT_CONFIG_COUNT": count}
		configureGit(env, "https://git.example.com/org/proj")
		key, after, _ := strings.Cut(want, " ")
		if env["GIT_CONFIG_COUNT"] != after ||
			env["GIT_CONFIG_KEY_"+key] != "credential.https://git.example.com.helper" ||
			env["GIT_CONFIG_VALUE_"+key] == "" {
			t.Errorf("%q: %v", count, env)
		}
	}
	env := map[string]string{}
	configureGit(env, "https://git.example.com/%zz")
	if len(env) > 0 {
		t.Errorf("of no address: %v", env)
	}
}

// Only a user string that names a repository has one to clone, from where it is said to be.
func TestClone(t *testing.T) {
	for user, want := range map[string]string{
		"alice~dev": "", "alice": "", "alice~repo=org/proj": "https://github.com/org/proj.git ",
	} {
		got := ""
		if r := (Access{}).Clone(spec(t, user, blueprint.Blueprint{}).User); r != nil {
			got = r.URL + " " + r.Ref
		}
		if got != want {
			t.Errorf("%s: %q, want %q", user, got, want)
		}
	}
}

// mounting are the containers that mount a volume.
func mounting(pod corev1.Pod, volume string) (names []string) {
	for name, c := range containers(pod) {
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func variables(c corev1.Container) map[string]string {
	all := map[string]string{}
	for _, v := range c.Env {
		all[v.Name] = v.Value
	}
	return all
}

// Only the container that clones has the credentials, unless the user's
// configuration hands them over: then git has them too, for that host.
func TestWhoHasTheCredentials(t *testing.T) {
	b := blueprint.Blueprint{
		Name: "dev", Image: "x",
		Env: map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Alice"},
	}
	s := withRepository(t, b)
	pod := podOf(t, s)
	if got := mounting(pod, "git"); !slices.Equal(got, []string{"init-repository"}) {
		t.Errorf("mounted by %s", got)
	}
	if env := variables(pod.Spec.Containers[0]); len(env) != 3 || len(s.HandsOver()) > 0 {
		t.Errorf("%v, %q", env, s.HandsOver())
	}
	s.Access.Repositories[0].InWorkspace = true
	pod = podOf(t, s)
	if got := mounting(pod, "git"); !slices.Equal(got, []string{"init-repository", "k8shell-main"}) {
		t.Errorf("mounted by %s", got)
	}
	env := variables(pod.Spec.Containers[0])
	if env["GIT_CONFIG_COUNT"] != "2" || env["GIT_CONFIG_KEY_0"] != "user.name" ||
		env["GIT_CONFIG_KEY_1"] != "credential.https://git.example.com.helper" || len(s.HandsOver()) != 1 {
		t.Errorf("%v, %q", env, s.HandsOver())
	}
	// Those of another host are nobody's.
	s.Access.Repositories[0].URL = "https://example.com"
	if pod = podOf(t, s); len(mounting(pod, "git"))+len(s.Private()) > 0 || len(s.HandsOver()) > 0 {
		t.Errorf("mounted by %s", mounting(pod, "git"))
	}
}

// What is privileged can take the node, and whatever is there: provisioning such a
// workspace with credentials warns of it.
func TestWhoCanTakeTheCredentials(t *testing.T) {
	sidecar := blueprint.Podman{Enabled: true, Image: "quay.io/podman/stable:v5"}
	unprivileged := sidecar
	unprivileged.SecurityContext = map[string]any{
		"runAsUser":    1000,
		"capabilities": map[string]any{"add": []any{"SETUID"}},
	}
	taking := sidecar
	taking.SecurityContext = map[string]any{"privileged": true}
	for name, test := range map[string]struct {
		b    blueprint.Blueprint
		says string
	}{
		"no sidecar":       {blueprint.Blueprint{}, ""},
		"one switched off": {blueprint.Blueprint{Podman: blueprint.Podman{Image: "x"}}, ""},
		"unprivileged":     {blueprint.Blueprint{Podman: unprivileged}, ""},
		"as it comes":      {blueprint.Blueprint{Podman: sidecar}, ""},
		"privileged":       {blueprint.Blueprint{Podman: taking}, "podman.securityContext"},
		"the container's own": {
			blueprint.Blueprint{SecurityContext: map[string]any{"privileged": true}},
			"securityContext",
		},
	} {
		test.b.Name, test.b.Image = "dev", "x"
		s := withRepository(t, test.b)
		for _, inWorkspace := range []bool{false, true} {
			s.Access.Repositories[0].InWorkspace = inWorkspace
			all := s.HandsOver()
			said := slices.ContainsFunc(all,
				func(m string) bool { return strings.Contains(m, "is privileged ("+test.says+")") })
			if said != (test.says != "") ||
				inWorkspace != slices.ContainsFunc(all,
					func(m string) bool { return strings.Contains(m, "inWorkspace") }) {
				t.Errorf("%s: %q", name, all)
			}
		}
		if s.Access.Repositories = nil; len(s.HandsOver()) > 0 {
			t.Errorf("%s, without credentials: %q", name, s.HandsOver())
		}
	}
}

// The home directory is told to whatever runs in a workspace, and looked into by
// the container that clones.
func TestHomeOfTheWorkspace(t *testing.T) {
	for name, test := range map[string]struct {
		env                      map[string]string
		path                     string // of a storage
		home, workingDir, looked string
	}{
		"in a storage":    {nil, "/home/dev", "/home/dev", "/home/dev", "/k8shell/home/home/dev"},
		"below a storage": {map[string]string{"HOME": "/home/dev"}, "/home", "/home/dev", "", "/k8shell/home/home"},
		"in no storage":   {map[string]string{"HOME": "/work"}, "/data", "/work", "", ""},
		"the image's":     {nil, "/data", "", "", ""},
		"what is not clean": {
			map[string]string{"HOME": "/home/dev/"},
			"/home/dev", "/home/dev/", "/home/dev",
			"/k8shell/home/home/dev",
		},
		"the only one below home": {nil, "/home/me", "/home/me", "/home/me", "/k8shell/home/home/me"},
	} {
		s := withRepository(t, blueprint.Blueprint{
			Name: "dev", Image: "x", Env: test.env,
			Storages: map[string]blueprint.Storage{"files": {Type: "emptyDir", Path: test.path}},
		})
		pod := podOf(t, s)
		main, looked := pod.Spec.Containers[0], ""
		for _, m := range pod.Spec.InitContainers[0].VolumeMounts {
			if m.Name == "storage-files" && m.ReadOnly {
				looked = m.MountPath
			}
		}
		if home := variables(main)["HOME"]; home != test.home || main.WorkingDir != test.workingDir ||
			looked != test.looked {
			t.Errorf("%s: HOME %q, working directory %q, looked into at %q", name, home, main.WorkingDir, looked)
		}
	}
}

// A container that prepares a workspace is confined as the blueprint's own is, and
// is nobody where that only must not be root.
func TestHelpersAreConfined(t *testing.T) {
	profile := map[string]any{"type": "Localhost", "localhostProfile": "x.json"}
	got := helper(Spec{Blueprint: blueprint.Blueprint{SecurityContext: map[string]any{
		"privileged": true, "runAsNonRoot": true,
		"runAsGroup": 7, "seccompProfile": profile, "capabilities": map[string]any{"add": []any{"SYS_ADMIN"}},
	}}})
	user, _ := got["asUser"].(map[string]any)
	root, _ := got["asRoot"].(map[string]any)
	if user["runAsUser"] != 65534 || user["runAsNonRoot"] != true || user["privileged"] != nil ||
		user["runAsGroup"] != 7 || root["runAsGroup"] != nil || root["runAsUser"] != 0 ||
		root["runAsNonRoot"] != false {
		t.Errorf("%v", got)
	}
}

// Where the template names no user, the user of the home directory is the one
// that it is given to: root without capabilities could not.
func TestWhoLooksIntoTheHome(t *testing.T) {
	for name, test := range map[string]struct {
		context map[string]any
		owner   *int64
		want    any
	}{
		"the home's":           {nil, new(int64(1000)), int64(1000)},
		"nobody's":             {nil, nil, nil},
		"root's":               {nil, new(int64(0)), nil},
		"the template's":       {map[string]any{"runAsUser": 7}, new(int64(1000)), 7},
		"the home's, not root": {map[string]any{"runAsNonRoot": true}, new(int64(1000)), int64(1000)},
		"root's, not root":     {map[string]any{"runAsNonRoot": true}, new(int64(0)), nobody},
	} {
		got := helper(Spec{Blueprint: blueprint.Blueprint{
			SecurityContext: test.context, Env: map[string]string{"HOME": "/home/dev"},
			Storages: map[string]blueprint.Storage{
				"files": {Type: "local", Path: "/home", FsOwnerUID: test.owner},
				"data":  {Type: "local", Path: "/data", FsOwnerUID: new(int64(9))},
			},
		}})
		user, _ := got["asUser"].(map[string]any)
		root, _ := got["asRoot"].(map[string]any)
		if user["runAsUser"] != test.want || root["runAsUser"] != 0 {
			t.Errorf("%s: %v, want %v; root is %v", name, user["runAsUser"], test.want, root["runAsUser"])
		}
	}
}

func TestRepositoryAddresses(t *testing.T) {
	for address, name := range map[string]string{
		"https://github.com/org/proj.git": "proj", "https://github.com/org/proj/": "proj",
		"https://github.com/org/pro.j": "pro.j",
		"https://github.com/org/..":    "", "https://github.com/org/...git": "",
		"https://alice:x@github.com/org/proj": "",
		"https://github.com/org/.git":         "",
		"https://github.com/team/../proj.git": "", "https://github.com/team/%2e%2e/proj.git": "",
		"https://github.com/te\x00am/proj": "",
	} {
		r := &Repository{URL: address}
		if err := r.Check(); (err == nil) != (name != "") || err == nil && r.name() != name {
			t.Errorf("%s: %q, %v", address, r.name(), err)
		}
	}
}

// Credentials are for the addresses below their own, and for no other: each part of the path,
// and the host as a whole.
func TestCovers(t *testing.T) {
	for _, test := range []struct {
		prefix, address string
		want            bool
	}{
		{"https://git.example.com", "https://git.example.com/org/proj", true},
		{"https://git.example.com/", "https://GIT.example.com", true},
		{"https://git.example.com/org", "https://git.example.com/org", true},
		{"https://git.example.com/org/", "https://git.example.com/org/proj.git", true},
		{"https://git.example.com/org", "https://git.example.com/other/proj", false},
		{"https://git.example.com/org", "https://git.example.com/organization/proj", false},
		{"https://git.example.com", "https://git.example.com.evil.org/org/proj", false},
		{"https://git.example.com", "http://git.example.com/org/proj", false},
		{"https://git.example.com", "https://git.example.com:8443/org/proj", false},
		{"ssh://git@git.example.com/org", "ssh://git@git.example.com/org/proj", true},
		{"https://git.example.com/%zz", "https://git.example.com/%zz", false},
		{"https://git.example.com", "https://git.example.com/%zz", false},
	} {
		if got := covers(test.prefix, test.address); got != test.want {
			t.Errorf("%s covers %s: %t", test.prefix, test.address, got)
		}
	}
}
