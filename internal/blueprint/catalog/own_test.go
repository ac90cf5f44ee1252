package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

const guarded = `blueprints:
- name: guarded
  template: base
  env: {HTTPS_PROXY: "http://proxy:1", no_proxy: !cel "'.svc,' + user.username", TEAM: blue}
  securityContext: {runAsNonRoot: true}
  storages:
    home: {type: memory, path: /work/me, fsOwnerUid: 7}
    tools: {type: memory, path: /usr/local, enabled: false}
- {name: user, template: base, securityContext: {runAsUser: 1000}}
- {name: bare, template: base, securityContext: {capabilities: {drop: [ALL]}}}
- name: lent
  template: base
  storages:
    team: {type: local, path: /data, existingClaim: of-the-team, fsOwnerUid: 1000}
    cache:
      type: shared
      path: /cache
      fsOwnerGid: 1000
      claimSpec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
    own: {type: memory, path: /mnt, fsOwnerUid: 1000}
`

func guardedSet(t *testing.T) *Set {
	t.Helper()
	set := platformSet(t)
	if problems := set.add(blueprint.Source{Name: "guarded.yaml", Text: []byte(guarded)}); len(problems) > 0 {
		t.Fatal(problems)
	}
	return set
}

// What a custom blueprint mounts is in the home directory or where users may, and every problem is reported, at its
// place.
func TestStoragesOfCustomBlueprints(t *testing.T) {
	b, err := resolve(t, guardedSet(t), own(`template: guarded
storages:
  a: {type: memory, path: /work/me/cache}
  b: {type: memory, path: /data}
  home: {sizeLimit: 1Gi}
  tools: {enabled: true}
`))
	if err != nil || len(b.Storages) != 4 {
		t.Fatal(err, fault.From(err).Problems)
	}
	_, err = resolve(t, guardedSet(t), own(`template: guarded
env: {HOME: /usr/share}
storages:
  a: {type: memory, path: /bin}
  b: {type: memory, path: /usr/share/x}
  c: {type: memory, path: !cel "'/et' + 'c'"}
  d: {type: memory, path: /work/me2}
  e: {type: memory, path: /data, fsOwnerUid: 0, fsOwnerGid: 0}
  f: {type: memory, path: /home/../bin}
  g: {type: memory, path: /k8shell/runtime}
  home: {fsOwnerUid: 8}
`))
	const unavailable = "is not available to users: mount it in the home directory or in one of /cache, /data, "
	want := []string{
		".k8shell.yaml:2:13: blueprint NAME: env.HOME: \"/usr/share\" is not in the storage home",
		".k8shell.yaml:4:27: blueprint NAME: storages.a.path: \"/bin\" " + unavailable,
		".k8shell.yaml:5:27: blueprint NAME: storages.b.path: \"/usr/share/x\" " + unavailable,
		".k8shell.yaml:6:27: blueprint NAME: storages.c.path: \"/etc\" " + unavailable,
		".k8shell.yaml:7:27: blueprint NAME: storages.d.path: \"/work/me2\" " + unavailable,
		".k8shell.yaml:8:46: blueprint NAME: storages.e.fsOwnerUid: only root can give a directory away",
		".k8shell.yaml:8:61: blueprint NAME: storages.e.fsOwnerGid: only root can give a directory away",
		".k8shell.yaml:9:27: blueprint NAME: storages.f.path: invalid path",
		".k8shell.yaml:10:27: blueprint NAME: storages.g.path: \"/k8shell/runtime\" would hide what a " +
			"workspace runs on",
		".k8shell.yaml:11:22: blueprint NAME: storages.home.fsOwnerUid: only root can give a directory away",
	}
	got := fault.From(err).Problems
	for i := range got {
		got[i] = strings.Replace(got[i], own("").As, "NAME", 1)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%s", cmp.Diff(want, got))
	}
}

// A CSI driver mounts what it likes, so that a user names none, not even one for a storage of the platform's.
func TestDriverOfTheUser(t *testing.T) {
	for name, c := range map[string]struct{ platform, own, want string }{
		"their own storage": {
			"", "{a: {type: scratch, path: /data, driver: other.example.com}}",
			"storages.a.driver: not available to users",
		},
		"the platform's": {
			"{a: {type: scratch, path: /data}}", "{a: {driver: other.example.com}}",
			"storages.a.driver: not available to users",
		},
		"the platform's choice": {
			"{a: {type: scratch, path: /data, driver: other.example.com}}", "{a: {afterlife: 1h}}", "",
		},
	} {
		platform := "{}"
		if c.platform != "" {
			platform = c.platform
		}
		set := platformSet(t)
		text := "blueprints: [{name: scratchy, template: base, storages: " + platform + "}]"
		if problems := set.add(blueprint.Source{Name: "scratchy.yaml", Text: []byte(text)}); len(problems) > 0 {
			t.Fatal(problems)
		}
		_, err := resolve(t, set, own("template: scratchy\nstorages: "+c.own+"\n"))
		switch {
		case err == nil:
			if c.want != "" {
				t.Errorf("%s: it is taken", name)
			}
		case c.want == "" || !strings.Contains(strings.Join(fault.From(err).Problems, "; "), c.want):
			t.Errorf("%s: %v: %q", name, err, fault.From(err).Problems)
		}
	}
}

// A home directory that the user has chosen opens no other place for storages.
func TestHomeOfTheUserOpensNothing(t *testing.T) {
	_, err := resolve(t, guardedSet(t),
		own("template: base\nenv: {HOME: /platform}\nstorages: {a: {type: memory, path: /platform/a}}\n"))
	if got := fault.From(err).Problems; len(got) != 1 ||
		!strings.Contains(got[0], `storages.a.path: "/platform/a" is not available to users`) {
		t.Errorf("%v: %q", err, got)
	}
}

// Root gives away what a custom blueprint says only where the template is root, and never what others may have, unless
// the template itself says so.
func TestOwnersOfCustomStorages(t *testing.T) {
	const root, others, lent = ": only root can give a directory away, which ",
		": only the platform gives away the directory of a claim that others may have",
		": the template gives this directory to a user"
	claim := "claimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"
	for text, want := range map[string][]string{
		"user\nstorages: {a: {type: local, path: /data, existingClaim: x, fsOwnerUid: 1000}}": {"a.fsOwnerUid" + root +
			"the template's securityContext.runAsUser forbids"},
		"user\nstorages: {a: {type: memory, path: /data, fsOwnerGid: 0}}": {"a.fsOwnerGid" + root +
			"the template's securityContext.runAsUser forbids"},
		"user\nstorages: {a: {type: memory, path: /data, fsOwnerUid: !cel user.uid}}": {"a.fsOwnerUid" + root},
		"bare\nstorages: {a: {type: memory, path: /data, fsOwnerUid: 1000}}": {"a.fsOwnerUid" + root +
			"the template's securityContext.capabilities forbids"},
		"base\nstorages: {a: {type: local, path: /data, existingClaim: x, fsOwnerUid: 1}}": {"a.fsOwnerUid" + others},
		"base\nstorages: {a: {type: shared, path: /data, fsOwnerGid: 1, " + claim + "}}":   {"a.fsOwnerGid" + others},
		"base\nstorages: {a: {type: local, path: /data, fsOwnerUid: 1, " + claim + "}}":    nil,
		"base\nstorages: {a: {type: emptyDir, path: /data, fsOwnerUid: 1, fsOwnerGid: 1}}": nil,
		"lent\nstorages: {team: {path: /mnt/x}, cache: {readonly: true}}":                  nil,
		"lent\nstorages: {team: {existingClaim: x}, cache: {id: x}}": {
			"cache.id" + lent,
			"team.existingClaim" + lent,
		},
		"lent\nstorages: {own: {type: shared, " + claim + "}}": {"own.type" + lent},
		"lent\nstorages: {own: {type: local, " + claim + "}}":  nil,
		"lent\nstorages: {team: {fsOwnerUid: 7, fsOwnerGid: 8, existingClaim: x}}": {
			"team.fsOwnerGid" + others,
			"team.fsOwnerUid" + others,
		},
		"lent\nstorages: {team: {fsOwnerGid: 8, existingClaim: x}}": {
			"team.existingClaim" + lent,
			"team.fsOwnerGid" + others,
		},
	} {
		_, err := resolve(t, guardedSet(t), own("template: "+text+"\n"))
		got := []string{}
		if err != nil {
			for _, p := range fault.From(err).Problems {
				_, about, _ := strings.Cut(p, "storages.")
				got = append(got, about)
			}
		}
		slices.Sort(got)
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s:\n%s", text, cmp.Diff(want, got))
		}
	}
}

// A flag sets what a custom blueprint may, no more.
func TestStoragesOfFlags(t *testing.T) {
	o := setting("storages.x.type=memory", "storages.x.path=/bin")
	_, err := resolve(t, platformSet(t), o)
	if all := strings.Join(fault.From(err).Problems, "\n"); !strings.HasPrefix(all,
		`--set storages.x.path: "/bin" is not available to users`) {
		t.Errorf("%q", all)
	}
}

// The check without a user finds the same.
func TestCheckOfCustomStorages(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".k8shell.yaml")
	text := "template: default\nstorages: {a: {type: memory, path: /bin}, b: {type: memory, path: !cel \"'/home/' + " +
		"user.username\"}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Check(t.Context(), Configured{}, []string{file})
	if got := fault.From(err).Problems; len(got) != 1 ||
		!strings.Contains(got[0], `:2:36: blueprint custom: storages.a.path: "/bin" is not available to users`) {
		t.Errorf("%q", got)
	}
}

// The helper image is the platform's; without one it is the default.
func TestHelperImage(t *testing.T) {
	for text, want := range map[string]string{
		"{name: x, image: a}": "docker.io/alpine/git:", "{name: x, template: base}": "docker.io/alpine/git:",
		"{name: x, image: a, helperImage: registry.example.com/git:1}": "registry.example.com/git:1",
	} {
		set := platformSet(t)
		if problems := set.add(blueprint.Source{
			Name: "x.yaml",
			Text: []byte("blueprints: [" + text + "]"),
		}); len(problems) > 0 {
			t.Fatal(problems)
		}
		if b, err := resolve(t, set, own("template: x\nimage: evil\n")); err != nil ||
			!strings.HasPrefix(b.HelperImage, want) {
			t.Errorf("%s: %q, %v", text, b.HelperImage, err)
		}
	}
}

// Proxies are what the platform says, not what a repository does.
func TestProxies(t *testing.T) {
	b, err := resolve(t, guardedSet(t), own("template: guarded\nenv: {http_proxy: 'http://evil', no_proxy: x, A: b}\n"))
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	if diff := cmp.Diff(map[string]string{"HTTPS_PROXY": "http://proxy:1", "no_proxy": ".svc,alice"},
		b.Proxies); diff != "" {
		t.Error(diff)
	}
}
