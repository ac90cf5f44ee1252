package blueprint

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// What is too long, too many or too large is refused at once, and the message names the field, shows not more than the
// beginning of the value, and says the bound.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	claim := func(key string, size any) func(*Blueprint) {
		return func(b *Blueprint) {
			b.Storages = map[string]Storage{"a": {Type: StorageLocal, Path: "/a", ClaimSpec: map[string]any{
				"accessModes": []any{"ReadWriteOnce"},
				"resources":   map[string]any{key: map[string]any{"storage": size}},
			}}}
		}
	}
	rubble := make([]byte, 700_000)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(rubble)
	for name, test := range map[string]struct {
		change func(*Blueprint)
		want   string
	}{
		"an exponent": {
			func(b *Blueprint) { b.Resources.CPU = "1e2147483647" },
			`resources.cpu: invalid quantity "1e2147483647": use`,
		},
		"a small exponent": {
			func(b *Blueprint) { b.Resources.CPU = "1e-2147483647" },
			`resources.cpu: invalid quantity "1e-2147483647": use`,
		},
		"many digits": {
			func(b *Blueprint) { b.Resources.Memory = strings.Repeat("9", 100_000) },
			`resources.memory: invalid quantity "` + strings.Repeat("9", 60) + `…": use`,
		},
		"many cores": {
			func(b *Blueprint) { b.Resources.CPU = "1e10" },
			`resources.cpu: "1e10" must be at most 1024 cores`,
		},
		"much memory": {
			func(b *Blueprint) { b.Resources.Memory = "2Ei" },
			`resources.memory: "2Ei" must be at most 1Ei`,
		},
		"of the sidecar": {
			func(b *Blueprint) { b.Podman.Resources.CPU = "1e100" },
			`podman.resources.cpu: invalid quantity "1e100"`,
		},
		"the sidecar's limit": {
			func(b *Blueprint) { b.Podman.SizeLimit = "1e99" },
			`podman.sizeLimit: "1e99" must be at most 1Ei`,
		},
		"a storage's limit": {func(b *Blueprint) {
			b.Storages = map[string]Storage{"a": {Type: StorageMemory, Path: "/a", SizeLimit: "1E999999"}}
		}, `storages.a.sizeLimit: invalid quantity "1E999999"`},
		"a claim": {
			claim("requests", "1e2147483647"),
			`storages.a.claimSpec.resources.requests.storage: invalid quantity "1e2147483647"`,
		},
		"a claim's limit": {
			claim("limits", "1e999999999"),
			`storages.a.claimSpec.resources.limits.storage: invalid quantity "1e999999999"`,
		},
		"a claim's number": {
			claim("requests", 1e300),
			`storages.a.claimSpec.resources.requests.storage: invalid quantity "1e+300"`,
		},
		"no number": {
			claim("requests", math.Inf(1)),
			`storages.a.claimSpec.resources.requests.storage: invalid quantity "+Inf"`,
		},
		"an owner": {func(b *Blueprint) {
			b.Storages = map[string]Storage{"a": {
				Type: StorageMemory, Path: "/a",
				FsOwnerGID: new(int64(math.MaxInt64)),
			}}
		}, "storages.a.fsOwnerGid: 9223372036854775807: must be from 0 to 2147483647"},
		"a user": {
			func(b *Blueprint) { b.SecurityContext = map[string]any{"runAsUser": int64(1) << 40} },
			"securityContext.runAsUser: 1099511627776: must be from 0 to 2147483647",
		},
		"a group of the sidecar": {
			func(b *Blueprint) { b.Podman.SecurityContext = map[string]any{"runAsGroup": -1} },
			"podman.securityContext.runAsGroup: -1: must be from 0",
		},
		"a variable": {
			func(b *Blueprint) { b.Env = map[string]string{"A": long} },
			"env.A: must have at most 128000 bytes, has 200001",
		},
		"a NUL": {
			func(b *Blueprint) { b.Env = map[string]string{"A": "a\x00b"} },
			"env.A: must not contain a NUL character",
		},
		"no text": {
			func(b *Blueprint) { b.Env = map[string]string{"A": "a\xffb"} },
			"env.A: must be text (UTF-8)",
		},
		"a NUL in a script": {
			func(b *Blueprint) { b.InitScripts = []InitScript{{Name: "a", Script: "a\x00"}} },
			"initScripts[0].script: must not contain a NUL character",
		},
		"a file that is no text": {
			func(b *Blueprint) { b.ExtFiles = map[string]string{"/a": "\xff"} },
			"extFiles./a: must be text (UTF-8)",
		},
		"a name of wide letters": {
			func(b *Blueprint) { b.Env = map[string]string{strings.Repeat("ä", 253): ""} },
			"env." + strings.Repeat("ä", 253) + ": a valid environment",
		},
		"a variable's name": {func(b *Blueprint) { b.Env = map[string]string{long[:300]: ""} }, "env." +
			long[:300] + ": the name must have at most 253 characters, has 300"},
		"all variables": {
			func(b *Blueprint) { b.Env = numbered(6, long[:100_000]) },
			"env: must have at most 512000 bytes in total, has 600",
		},
		"the helper image": {
			func(b *Blueprint) { b.HelperImage = long[:1025] },
			"helperImage: must have at most 1024 characters, has 1025",
		},
		"the sidecar's image": {
			func(b *Blueprint) { b.Podman.Image = long[:1025] },
			"podman.image: must have at most 1024 characters, has 1025",
		},
		"the agent's image": {
			func(b *Blueprint) { b.K8shelld.Image = long[:1025] },
			"k8shelld.image: must have at most 1024 characters, has 1025",
		},
		"the agent's settings": {
			func(b *Blueprint) { b.K8shelld.Connection = map[string]any{"a": long + long} },
			"k8shelld.connection: must have at most 256000 bytes, has 4000",
		},
		"a storage's path": {
			func(b *Blueprint) { b.Storages = inMemory("/" + long[:4096]) },
			"storages.s0.path: must have at most 4096 bytes, has 4097",
		},
		"many variables": {
			func(b *Blueprint) { b.Env = numbered(1001, "") },
			"env: must have at most 1000 variables, has 1001",
		},
		"many scripts": {
			func(b *Blueprint) { b.InitScripts = scripts(100, "x") },
			"initScripts: must have at most 99 scripts, has 100",
		},
		"large scripts": {
			func(b *Blueprint) { b.InitScripts = scripts(6, long) },
			"initScripts: must have at most 1000000 bytes in total, has 1200000",
		},
		"large files": {func(b *Blueprint) {
			b.ExtFiles = map[string]string{
				"/a": long + long + long,
				"/b": long + long,
			}
		}, ""},
		"too large files": {func(b *Blueprint) {
			b.ExtFiles = map[string]string{
				"/a": long + long + long,
				"/b": long + long + long,
			}
		}, "extFiles: must have at most 1000000 bytes in total, has 1200000"},
		"a long path": {
			func(b *Blueprint) { b.ExtFiles = map[string]string{"/" + long[:4096]: ""} },
			"extFiles./" + long[:4096] + ": must have at most 4096 bytes in its path, has 4097",
		},
		"what cannot be compressed": {
			func(b *Blueprint) {
				b.ExtFiles = map[string]string{"/a": base64.StdEncoding.EncodeToString(rubble)}
			},
			"initScripts: the blueprint is too large: its texts would take about 1",
		},
		"annotations": {func(b *Blueprint) {
			claim("requests", "1Gi")(b)
			s := b.Storages["a"]
			s.ClaimSpecAnnotations = map[string]string{"a": long, "b": long}
			b.Storages["a"] = s
		}, "storages.a.claimSpecAnnotations: must have at most 262144 bytes in total, has 400002"},
		"apps": {
			func(b *Blueprint) { b.Apps = map[string]any{"a": long + long} },
			"apps: must have at most 256000 bytes, has 4000",
		},
		"apps of infinity": {
			func(b *Blueprint) { b.Apps = map[string]any{"a": math.Inf(1)} },
			"apps: unsupported value: +Inf",
		},
		"an image": {func(b *Blueprint) { b.Image = long }, "image: must have at most 1024 characters, has 200000"},
		"many storages": {
			func(b *Blueprint) { b.Storages = inMemory(paths(65)...) },
			"storages: must have at most 64 storages, has 65",
		},
		"many blocks": {func(b *Blueprint) {
			for range 501 {
				b.Network.AllowEgressToCIDRs = append(b.Network.AllowEgressToCIDRs, "10.0.0.0/8")
			}
		}, "network.allowEgressToCIDRs: must have at most 500 blocks, has 501"},
		"many pods": {
			func(b *Blueprint) { b.Network.AllowEgressToPods = pods(501) },
			"network.allowEgressToPods: must have at most 500 entries, has 501",
		},
		"many files": {func(b *Blueprint) {
			b.ExtFiles = map[string]string{}
			for _, path := range paths(501) {
				b.ExtFiles[path] = ""
			}
		}, "extFiles: must have at most 500 files, has 501"},
		"as much as there may be": {func(b *Blueprint) {
			b.Image, b.Podman.Image, b.K8shelld.Image, b.HelperImage = long[:1024], long[:1024], long[:1024],
				long[:1024]
			b.Env, b.InitScripts, b.Storages = numbered(1000, ""), scripts(99, "x"),
				inMemory(append(paths(63), "/"+long[:4095])...)
			b.Network.AllowEgressToPods = pods(500)
			b.Apps = map[string]any{"a": (long + long)[:256_000-len(`{"a":""}`)]}
			b.ExtFiles = map[string]string{"/" + long[:4095]: ""}
			for _, path := range paths(499) {
				b.ExtFiles[path] = ""
			}
		}, ""},
	} {
		b := Blueprint{Name: "dev", Image: "alpine"}
		test.change(&b)
		began := time.Now()
		problems := strings.Join(b.Validate(), "\n")
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		if !strings.HasPrefix(problems, test.want) || test.want == "" && problems != "" ||
			strings.Count(problems, "\n") > 0 {
			t.Errorf("%s: %.300q, want %.300q", name, problems, test.want)
		}
	}
}

func paths(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("/s%d", i))
	}
	return all
}

func inMemory(paths ...string) map[string]Storage {
	all := map[string]Storage{}
	for i, path := range paths {
		all[fmt.Sprintf("s%d", i)] = Storage{Type: StorageMemory, Path: path}
	}
	return all
}

func pods(n int) (all []EgressPods) {
	for range n {
		all = append(all, EgressPods{Labels: map[string]string{"app": "db"}})
	}
	return all
}

func numbered(n int, value string) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprintf("A%d", i)] = value
	}
	return all
}

func scripts(n int, text string) (all []InitScript) {
	for i := range n {
		all = append(all, InitScript{Name: fmt.Sprintf("s%d", i), Script: text})
	}
	return all
}

// Every text is parsed at once, or refused; what is parsed can be worked with.
func FuzzParseQuantity(f *testing.F) {
	for _, seed := range []string{
		"", "1", "500m", "1.5Gi", "1e2147483647", "1e-99", "1E99", "-0", "+.5n",
		"0.000000000000000000000000001", ".", "1..2", "1EiB", "999999999999999999999999999999Ei",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		began := time.Now()
		q, err := ParseQuantity(text)
		if err == nil {
			same := q.DeepCopy()
			_, _, _ = q.String(), q.Cmp(same), q.Value()
			q.Add(q)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%q took %s", text, took)
		}
	})
}
