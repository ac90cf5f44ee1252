package blueprint

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Each rule is broken once; the problem names the field.
func TestValidate(t *testing.T) {
	yes, no, one := true, false, int64(1)
	minus := -one
	claim := func(mode string) map[string]any {
		return map[string]any{
			"accessModes": []any{mode},
			"resources":   map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}
	}
	agent := func(b *Blueprint, context map[string]any) { b.K8shelld.Image, b.SecurityContext = "agent", context }
	storage := func(s Storage) func(*Blueprint) {
		return func(b *Blueprint) { b.Storages = map[string]Storage{"x": s} }
	}
	for name, test := range map[string]struct {
		change func(*Blueprint)
		want   []string
	}{
		"a valid one": {func(*Blueprint) {}, nil},
		"a long name": {
			func(b *Blueprint) { b.Name = strings.Repeat("x", 41) },
			[]string{"name: must have at most 40 characters, has 41"},
		},
		"a long description": {
			func(b *Blueprint) { b.Description = strings.Repeat("x", 501) },
			[]string{"description: must have at most 500 characters, has 501"},
		},
		"a long splash": {
			func(b *Blueprint) { b.Splash = strings.Repeat("x", 4097) },
			[]string{"splash: must have at most 4096 characters, has 4097"},
		},
		"no image":             {func(b *Blueprint) { b.Image = "" }, []string{"image: required"}},
		"a space in the image": {func(b *Blueprint) { b.Image = "a b" }, []string{`image: "a b" contains a space`}},
		"an image in capitals": {
			func(b *Blueprint) { b.Image = "ghcr.io/Org/Proj:1" },
			[]string{`image: invalid image "ghcr.io/Org/Proj:1": use one such as`},
		},
		"a long image": {
			func(b *Blueprint) { b.Image = strings.Repeat("A", 1024) },
			[]string{"image: invalid image"},
		},
		"a longer image": {
			func(b *Blueprint) { b.Image = strings.Repeat("A", 1025) },
			[]string{"image: must have at most 1024 characters, has 1025"},
		},
		"an image without a tag": {
			func(b *Blueprint) { b.HelperImage = "alpine:" },
			[]string{`helperImage: invalid image "alpine:"`},
		},
		"an address": {
			func(b *Blueprint) { b.Image = "https://ghcr.io/org/proj" },
			[]string{`image: invalid image`},
		},
		"an image by everything": {func(b *Blueprint) {
			b.Image = "Registry.example.com:5000/a/b_c/d-e.f:v1.2-x@sha256:" + strings.Repeat("a", 64)
		}, nil},
		"a pull policy": {
			func(b *Blueprint) { b.ImagePullPolicy = "Sometimes" },
			[]string{`imagePullPolicy: "Sometimes": must be one of Always, IfNotPresent, Never`},
		},
		"a hostname":  {func(b *Blueprint) { b.Hostname = "Not_A_Label" }, []string{"hostname: "}},
		"a subdomain": {func(b *Blueprint) { b.Subdomain = "1a" }, []string{"subdomain: "}},
		"a quantity": {
			func(b *Blueprint) { b.Resources.CPU = "lots" },
			[]string{`resources.cpu: invalid quantity "lots"`},
		},
		"a negative quantity": {
			func(b *Blueprint) { b.Resources.Memory = "-1" },
			[]string{`resources.memory: "-1" must not be negative`},
		},
		"a variable": {func(b *Blueprint) { b.Env = map[string]string{"1A": ""} }, []string{"env.1A: "}},
		"a file": {
			func(b *Blueprint) { b.ExtFiles = map[string]string{"a/../b": ""} },
			[]string{`extFiles: invalid path "a/../b"`},
		},
		"scripts": {
			func(b *Blueprint) {
				b.InitScripts = []InitScript{
					{Name: "x", Script: " "},
					{Name: "x", Script: "y"},
					{Name: "x y", Script: "y"},
				}
			},
			[]string{
				"initScripts[0].script: required", `initScripts[1].name: duplicate name "x"`,
				"initScripts[2].name: ",
			},
		},
		"a security context": {func(b *Blueprint) {
			b.SecurityContext = map[string]any{"runAsUsr": 1, "capabilities": map[string]any{"dropp": 1}}
		}, []string{"securityContext.capabilities.dropp: unknown field", "securityContext.runAsUsr: unknown field"}},
		"an agent's user": {
			func(b *Blueprint) { agent(b, map[string]any{"runAsUser": 1, "runAsNonRoot": true}) },
			[]string{"securityContext.runAsUser: must be 0, not 1", "securityContext.runAsNonRoot: "},
		},
		"scripts of an agent": {
			func(b *Blueprint) { agent(b, nil); b.StrictScripts = true },
			[]string{"strictScripts: "},
		},
		"an agent's typo": {
			func(b *Blueprint) { agent(b, map[string]any{"runAsUsr": 1, "runAsUser": 1}) },
			[]string{"securityContext.runAsUsr: unknown field"},
		},
		"an agent's files": {
			func(b *Blueprint) { agent(b, map[string]any{"readOnlyRootFilesystem": true}) },
			[]string{"securityContext.readOnlyRootFilesystem: "},
		},
		"an agent's capabilities": {
			func(b *Blueprint) {
				agent(b, map[string]any{"capabilities": map[string]any{
					"drop": []any{"all", "cap_chown"},
					"add":  []any{"SETUID"},
				}})
			},
			[]string{
				"securityContext.capabilities.drop: must not drop CHOWN",
				"securityContext.capabilities.drop: must not drop SETGID",
			},
		},
		"a host of IPv6": {func(b *Blueprint) { b.Image = "[fd00::1]:5000/team/dev:1" }, nil},
		"a network class": {
			func(b *Blueprint) { b.Network.NetworkPolicyClass = "open" },
			[]string{`network.networkPolicyClass: "open": must be one of`},
		},
		"addresses": {
			func(b *Blueprint) { b.Network.AllowEgressToCIDRs = []string{"::/0", "10.0.0.1"} },
			[]string{`network.allowEgressToCIDRs[1]: invalid CIDR "10.0.0.1"`},
		},
		"pods": {
			func(b *Blueprint) {
				b.Network.AllowEgressToPods = []EgressPods{{Namespace: "A"}, {Labels: map[string]string{"a b": "c"}}}
			},
			[]string{
				"network.allowEgressToPods[0].namespace: ", "network.allowEgressToPods[0].labels: required",
				`network.allowEgressToPods[1].labels: "a b": `,
			},
		},
		"podman": {func(b *Blueprint) {
			b.Podman = Podman{
				Enabled: true, ImagePullPolicy: "Sometimes",
				SizeLimit: "x",
			}
		}, []string{"podman.image: required", "podman.imagePullPolicy:", "podman.sizeLimit: invalid quantity"}},
		"a storage": {storage(Storage{Type: StorageMemory, Path: "/a", SizeLimit: "1Gi"}), nil},
		"a claim":   {storage(Storage{Type: StorageLocal, Path: "/a", ClaimSpec: claim("ReadWriteOnce")}), nil},
		"a storage's type": {
			storage(Storage{Type: "nfs", Path: "/a"}),
			[]string{`storages.x.type: "nfs": must be one of`},
		},
		"a storage's path": {
			storage(Storage{Type: StorageMemory, Path: "/a:b"}),
			[]string{"storages.x.path: invalid path"},
		},
		"a storage's owner": {
			storage(Storage{Type: StorageMemory, Path: "/a", FsOwnerUID: &minus}),
			[]string{"storages.x.fsOwnerUid: -1: must be from 0 to 2147483647"},
		},
		"not an id": {
			storage(Storage{Type: StorageShared, Path: "/a", ID: "B!", ExistingClaim: "c"}),
			[]string{"storages.x.id: "},
		},
		"a storage's id": {
			storage(Storage{Type: StorageMemory, Path: "/a", ID: "b"}),
			[]string{"storages.x.id: only allowed with type shared"},
		},
		"a claim's limit": {
			storage(Storage{Type: StorageLocal, Path: "/a", SizeLimit: "1Gi", ExistingClaim: "b"}),
			[]string{"storages.x.sizeLimit: only allowed with"},
		},
		"a scratch storage": {storage(Storage{
			Type: StorageScratch, Path: "/a", Afterlife: "1h30m", Readonly: true,
			FsOwnerUID: new(int64(1)),
		}), nil},
		"a node's afterlife": {storage(Storage{Type: StorageScratch, Path: "/a"}), nil},
		"what scratch is not": {
			storage(Storage{
				Type: StorageScratch, Path: "/a", SizeLimit: "1Gi", Afterlife: "2 days", ID: "b",
				ExistingClaim: "c", ClaimSpecAnnotations: map[string]string{"d": ""},
			}),
			[]string{
				"storages.x.sizeLimit: not available with type scratch: no quota",
				`storages.x.afterlife: invalid duration "2 days": use one such as 6h`,
				"storages.x.id: only allowed with type shared",
				"storages.x.existingClaim: only allowed with types local and shared",
				"storages.x.claimSpecAnnotations: requires claimSpec",
			},
		},
		"a driver": {storage(Storage{Type: StorageScratch, Path: "/a", Driver: "katbox.csi.paypal.com"}), nil},
		"no driver": {
			storage(Storage{Type: StorageScratch, Path: "/a", Driver: "Kat Box"}),
			[]string{"storages.x.driver: "},
		},
		"a long driver": {
			storage(Storage{Type: StorageScratch, Path: "/a", Driver: strings.Repeat("a", 64)}),
			[]string{"storages.x.driver: "},
		},
		"the driver of no scratch storage": {
			storage(Storage{Type: StorageEmptyDir, Path: "/a", Driver: "katbox.csi.paypal.com"}),
			[]string{"storages.x.driver: only allowed with type scratch"},
		},
		"a scratch claim": {
			storage(Storage{Type: StorageScratch, Path: "/a", ClaimSpec: claim("ReadWriteOnce")}),
			[]string{"storages.x.claimSpec: only allowed with types local and shared"},
		},
		"no afterlife": {
			storage(Storage{Type: StorageScratch, Path: "/a", Afterlife: "0s"}),
			[]string{`storages.x.afterlife: "0s" must be longer than 0`},
		},
		"before the end": {
			storage(Storage{Type: StorageScratch, Path: "/a", Afterlife: "-1h"}),
			[]string{`storages.x.afterlife: "-1h" must be longer than 0`},
		},
		"another's afterlife": {
			storage(Storage{Type: StorageEmptyDir, Path: "/a", Afterlife: "1h"}),
			[]string{"storages.x.afterlife: only allowed with type scratch"},
		},
		"no claim": {
			storage(Storage{Type: StorageShared, Path: "/a"}),
			[]string{"storages.x.claimSpec: required with type shared"},
		},
		"two claims": {storage(Storage{
			Type: StorageLocal, Path: "/a", ClaimSpec: claim("ReadWriteOnce"),
			ExistingClaim: "b",
		}), []string{"storages.x.existingClaim: claimSpec and existingClaim are mutually exclusive"}},
		"a claim of memory": {
			storage(Storage{Type: StorageMemory, Path: "/a", ClaimSpec: claim("ReadWriteOnce")}),
			[]string{"storages.x.claimSpec: only allowed with"},
		},
		"an existing one": {
			storage(Storage{Type: StorageMemory, Path: "/a", ExistingClaim: "b"}),
			[]string{"storages.x.existingClaim: only allowed with"},
		},
		"a claim's name": {
			storage(Storage{Type: StorageLocal, Path: "/a", ExistingClaim: "B!"}),
			[]string{"storages.x.existingClaim: "},
		},
		"annotations": {storage(Storage{
			Type: StorageMemory, Path: "/a",
			ClaimSpecAnnotations: map[string]string{"a b": ""},
		}), []string{
			"storages.x.claimSpecAnnotations: requires claimSpec",
			`storages.x.claimSpecAnnotations: "a b": `,
		}},
		"an access mode": {
			storage(Storage{Type: StorageLocal, Path: "/a", ClaimSpec: claim("Any")}),
			[]string{`storages.x.claimSpec.accessModes: "Any": must be one of`},
		},
		"a claim without all": {storage(Storage{
			Type: StorageLocal, Path: "/a",
			ClaimSpec: map[string]any{"volumeMode": "Block"},
		}), []string{
			"storages.x.claimSpec.accessModes: required",
			"storages.x.claimSpec.resources.requests.storage: required", `storages.x.claimSpec.volumeMode: "Block": ` +
				`must be Filesystem`,
		}},
		"no limits": {func(b *Blueprint) {
			b.Limits = Limits{
				MaxActiveHours: new(0.0),
				MaxAgeHours:    new(87600.0),
			}
		}, nil},
		"limits": {
			func(b *Blueprint) {
				b.Limits = Limits{
					MaxActiveHours: new(-1.0), MaxStoppedHours: new(math.NaN()),
					MaxAgeHours: new(math.Inf(1)),
				}
			},
			[]string{
				"limits.maxActiveHours: -1: must be a number of hours from 0.01 to 87600, or 0 for no limit",
				"limits.maxStoppedHours: NaN: ", "limits.maxAgeHours: +Inf: ",
			},
		},
		"a limit of a moment": {
			func(b *Blueprint) { b.Limits.MaxAgeHours = new(0.001) },
			[]string{"limits.maxAgeHours: 0.001: "},
		},
		"a limit of ages": {
			func(b *Blueprint) { b.Limits.MaxAgeHours = new(87601.0) },
			[]string{"limits.maxAgeHours: 87601: "},
		},
		"the same path": {
			func(b *Blueprint) {
				b.Storages = map[string]Storage{
					"a": {Type: StorageMemory, Path: "/a", Enabled: &yes},
					"b": {Type: StorageMemory, Path: "/a"}, "c": {Type: StorageMemory, Path: "/a", Enabled: &no},
				}
			},
			[]string{`storages.b.path: duplicate path "/a" (also that of storage a)`},
		},
	} {
		b := Blueprint{Name: "dev", Image: "alpine"}
		test.change(&b)
		problems := b.Validate()
		if !slices.EqualFunc(problems, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}
