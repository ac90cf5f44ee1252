package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
)

// A claim is known by the storage that it is for, and else by its own name.
func TestStorageOfAClaim(t *testing.T) {
	values := map[string]any{"storages": []any{
		"nonsense",
		map[string]any{"name": "tmp"},
		map[string]any{"name": "data", "claim": "a"},
	}}
	for claim, want := range map[string]string{"a": "data", "b": "b"} {
		if got := StorageOf(values, claim); got != want {
			t.Errorf("%s is for %s, want %s", claim, got, want)
		}
	}
	if got := StorageOf(nil, "a"); got != "a" {
		t.Errorf("of no values: %s", got)
	}
	for claim, want := range map[string]string{claimName("alice-1", "data"): "data", "pvc-bob-1-data": "pvc-bob-1-data"} {
		if got := StorageNamed("alice-1", claim); got != want {
			t.Errorf("%s is named after %s, want %s", claim, got, want)
		}
	}
}

// What an existing claim has otherwise than is wanted, by its fields; quantities are compared
// as such, and what is not set says so.
func TestClaimChanges(t *testing.T) {
	const have = "{accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1024Mi}}}"
	for wanted, want := range map[string][]string{
		have: nil,
		"{resources: {requests: {storage: 1Gi}}}":            nil,
		"{volumeName: v, storageClassName: slow}":            {"claimSpec.storageClassName is fast, the blueprint says slow", "claimSpec.volumeName is not set, the blueprint says v"},
		"{resources: {requests: {storage: large}}}":          {"claimSpec.resources.requests.storage is 1024Mi, the blueprint says large"},
		"{resources: {limits: {storage: 1Gi}}}":              {"claimSpec.resources.limits.storage is not set, the blueprint says 1Gi"},
		"{storageClassName: {a: b}, accessModes: [a, b, c]}": {"claimSpec.accessModes is [ReadWriteOnce], the blueprint says [a b c]", "claimSpec.storageClassName.a is not set, the blueprint says b"},
	} {
		if diff := cmp.Diff(want, ClaimChanges(claimOfSpec(t, wanted), claimOfSpec(t, have))); diff != "" {
			t.Errorf("%s: %s", wanted, diff)
		}
	}
	if got := jsonValue(func() {}); got != nil {
		t.Errorf("what is no JSON is %v", got)
	}
}

// The values of a job become those of another one, and stay what they are beside that.
func TestOfJob(t *testing.T) {
	values := map[string]any{
		"image":  "x",
		"labels": map[string]any{kube.LabelJobID: "one", kube.LabelBlueprint: "dev", "a": "b"},
	}
	got, b := OfJob(values, "two")
	want := map[string]any{
		"image":  "x",
		"labels": map[string]any{kube.LabelJobID: "two", kube.LabelBlueprint: "dev", "a": "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" || b.Name != "dev" || JobOf(got) != "two" || JobOf(values) != "one" {
		t.Errorf("of blueprint %q, jobs %q and %q: %s", b.Name, JobOf(values), JobOf(got), diff)
	}
	for _, values := range []map[string]any{nil, {"image": "x"}, {"labels": "nonsense"}} {
		if got, b := OfJob(values, "two"); cmp.Diff(values, got) != "" || b.Name != "" || JobOf(got) != "" {
			t.Errorf("of %v: %v, %q", values, got, b.Name)
		}
	}
}

// What is ignored of a blueprint and of an identity is told.
func TestUnused(t *testing.T) {
	for name, test := range map[string]struct {
		b    blueprint.Blueprint
		sudo bool
		want []string
	}{
		"nothing":     {blueprint.Blueprint{}, false, nil},
		"a hostname":  {blueprint.Blueprint{Hostname: "box"}, false, nil},
		"a subdomain": {blueprint.Blueprint{Subdomain: "team"}, false, nil},
		"both": {
			blueprint.Blueprint{Hostname: "box", Subdomain: "team"},
			false,
			[]string{"hostname box is ignored"},
		},
		"both, and the hostname is its ID": {blueprint.Blueprint{Hostname: "alice-59936c3", Subdomain: "team"}, false, nil},
		"sudo":                             {blueprint.Blueprint{}, true, []string{"sudo of alice is ignored"}},
		"sudo, with an agent":              {blueprint.Blueprint{K8shelld: blueprint.K8shelld{Image: "agent:1"}}, true, nil},
	} {
		s := spec(t, "alice~dev", test.b)
		s.Identity.Username, s.Identity.Sudo = "alice", test.sudo
		if got := s.Unused(); !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The claims of shared storages are made once for all, as far as a blueprint says how.
func TestSharedClaims(t *testing.T) {
	claimSpec := map[string]any{"accessModes": []any{"ReadWriteMany"}}
	s := spec(t, "alice~dev", blueprint.Blueprint{Storages: map[string]blueprint.Storage{
		"all": {
			Type: blueprint.StorageShared, Path: "/all", ClaimSpec: claimSpec,
			ClaimSpecAnnotations: map[string]string{"a": "b"},
		},
		"team":     {Type: blueprint.StorageShared, Path: "/team", ID: "blue", ClaimSpec: claimSpec},
		"off":      {Type: blueprint.StorageShared, Path: "/off", ClaimSpec: claimSpec, Enabled: new(false)},
		"own":      {Type: blueprint.StorageLocal, Path: "/own", ClaimSpec: claimSpec},
		"existing": {Type: blueprint.StorageShared, Path: "/existing", ExistingClaim: "theirs", ClaimSpec: claimSpec},
		"unsaid":   {Type: blueprint.StorageShared, Path: "/unsaid"},
	}})
	var got []string
	for _, wanted := range s.SharedClaims() {
		got = append(got, wanted.Object.GetName()+" "+wanted.Object.GetAnnotations()["a"])
		if diff := cmp.Diff(claimSpec, wanted.Object.Object["spec"]); diff != "" {
			t.Errorf("%s: %s", wanted.Object.GetName(), diff)
		}
	}
	if diff := cmp.Diff([]string{kube.Name("pvc", "all") + " b", kube.Name("pvc", "team", "blue") + " "},
		got); diff != "" {
		t.Error(diff)
	}
}

// What cannot be made of a blueprint is an error with its name.
func TestNoValues(t *testing.T) {
	for name, b := range map[string]blueprint.Blueprint{
		"what is no JSON": {Name: "dev", SecurityContext: map[string]any{"x": func() {}}},
		"an organization where there is none": {
			Name:    "dev",
			Network: blueprint.Network{NetworkPolicyClass: blueprint.NetworkOrganization},
		},
	} {
		s := spec(t, "alice~dev", b)
		s.Identity.Organization = ""
		if values, err := s.Values(); values != nil || err == nil || !strings.HasPrefix(err.Error(), "blueprint dev: ") {
			t.Errorf("%s: %v, %v", name, values, err)
		}
	}
}

// The credentials of a repository are in a Secret of the workspace, as git takes them.
func TestPrivate(t *testing.T) {
	private := withRepository(t, blueprint.Blueprint{Name: "dev", Image: "x"}).Private()
	if len(private) != 1 {
		t.Fatalf("%v", private)
	}
	want := map[string]any{"username": "YWxpY2U=", "password": "aHVudGVyMg=="}
	if diff := cmp.Diff(want, private[0].Object["data"]); diff != "" ||
		private[0].Object["type"] != "kubernetes.io/basic-auth" || len(private[0].GetLabels()) == 0 {
		t.Errorf("%v: %s", private[0].Object, diff)
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

// git gets its helper after what the environment configures, whatever is in there.
func TestConfigureGit(t *testing.T) {
	for count, want := range map[string]string{"": "0 1", "2": "2 3", "-3": "0 1", "x": "0 1"} {
		env := map[string]string{"GIT_CONFIG_COUNT": count}
		configureGit(env, "https://git.example.com/org/proj")
		key, after, _ := strings.Cut(want, " ")
		if env["GIT_CONFIG_COUNT"] != after || env["GIT_CONFIG_KEY_"+key] != "credential.https://git.example.com.helper" ||
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
