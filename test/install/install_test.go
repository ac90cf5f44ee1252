// Package install tries install.sh against a server of releases on loopback, with nothing on the PATH but what every
// system has, and one program that downloads.
package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// What cosign does with what it is asked, which is to name the file, its bundle, and by whom it has to be signed.
const (
	verifies = `#!/bin/sh
issuer=https://token.actions.githubusercontent.com
command="verify-blob --bundle checksums.txt.sigstore.json"
case "$*" in "$command --certificate-identity-regexp "*release*) ;; *) exit 2 ;; esac
case "$*" in *" --certificate-oidc-issuer $issuer checksums.txt") ;; *) exit 2 ;; esac
[ -s checksums.txt ] && [ -s checksums.txt.sigstore.json ]
`
	fails = "#!/bin/sh\necho 'no matching signatures' >&2\nexit 1\n"
)

func TestInstall(t *testing.T) {
	const newest = "1.3.0"
	fine := release{version: newest}
	for name, c := range map[string]struct {
		has     string // the version that is there; empty for none
		offers  []release
		env     []string
		cosign  string // what it does; empty for none
		without string // a program that is not there
		want    string // the version that is there afterwards
		says    []string
	}{
		"the first time": {
			offers: []release{fine}, want: newest,
			says: []string{
				"installed ~/.local/bin/berth, version 1.3.0\n", "export PATH=\"~/.local/bin:$PATH\"",
				"next: berth doctor", "cosign is not installed",
			},
		},
		"an upgrade": {
			has: "1.2.9", offers: []release{fine}, want: newest,
			says: []string{"version 1.3.0 (it was 1.2.9)"},
		},
		"from a prerelease": {has: "1.3.0-rc.1", offers: []release{fine}, want: newest},
		"from one of ten":   {has: "1.9.0", offers: []release{{version: "1.10.0"}}, want: "1.10.0"},
		"it is there": {
			has: newest, offers: []release{{version: newest, half: true}}, want: newest, says: []string{"already"},
		},
		"of nobody's making": {has: "(devel)", offers: []release{fine}, want: newest},
		"an old one is offered": {
			has: "1.10.0", offers: []release{{version: "1.9.0"}}, want: "1.10.0",
			says: []string{"newer than 1.9.0: set BERTH_VERSION=v1.9.0 to go back"},
		},
		"a prerelease of it is offered": {
			has: newest, offers: []release{{version: "1.3.0-rc.1"}},
			want: newest, says: []string{"newer than 1.3.0-rc.1"},
		},
		"a later prerelease": {
			has: "1.3.0-rc.9", offers: []release{{version: "1.3.0-rc.10"}}, want: "1.3.0-rc.10",
		},
		"a later prerelease without a dot": {
			has: "1.3.0-rc9", offers: []release{{version: "1.3.0-rc10"}}, want: "1.3.0-rc10",
		},
		"a former prerelease without a dot is offered": {
			has: "1.3.0-rc10", offers: []release{{version: "1.3.0-rc9"}}, want: "1.3.0-rc10",
			says: []string{"newer than 1.3.0-rc9"},
		},
		"a former prerelease is offered": {
			has: "1.3.0-rc.10", offers: []release{{version: "1.3.0-rc.9"}}, want: "1.3.0-rc.10",
			says: []string{"newer than 1.3.0-rc.9"},
		},
		"an old one is asked for": {
			has: newest, offers: []release{fine, {version: "1.2.0"}},
			env: []string{"BERTH_VERSION=v1.2.0"}, want: "1.2.0",
		},
		"one that there is not": {
			has: newest, offers: []release{fine}, env: []string{"BERTH_VERSION=4.0.0"}, want: newest,
			says: []string{"cannot download URL/download/v4.0.0/checksums.txt"},
		},
		"another one than asked for": {
			has: newest, offers: []release{{version: "1.0.0", different: "1.2.0"}},
			env: []string{"BERTH_VERSION=1.2.0"}, want: newest,
			says: []string{"has version 1.0.0 instead of 1.2.0"},
		},
		"a wrong checksum": {
			has: "1.2.9", offers: []release{{version: newest, sum: strings.Repeat("a", 64)}}, want: "1.2.9",
			says: []string{"the checksum of berth_1.3.0_", "nothing is installed"},
		},
		"no checksums": {
			offers: []release{{version: newest, unsummed: true}}, says: []string{"cannot download"},
		},
		"half a file": {
			has: "1.2.9", offers: []release{{version: newest, half: true}}, want: "1.2.9",
		},
		"another machine's": {
			offers: []release{{version: newest, target: "linux_s390x"}}, says: []string{"names no archive for"},
		},
		"it does not run": {
			has: "1.2.9", offers: []release{{version: newest, program: "\x7fELF"}},
			want: "1.2.9", says: []string{"does not run here"},
		},
		"a signature": {
			offers: []release{{version: newest, signed: true}}, cosign: verifies, want: newest,
		},
		"no signature": {
			offers: []release{fine}, cosign: verifies, says: []string{"cannot download"},
		},
		"a wrong signature": {
			has: "1.2.9", offers: []release{{version: newest, signed: true}},
			cosign: fails, want: "1.2.9", says: []string{"no matching signatures"},
		},
		"nothing to sum with": {
			offers: []release{fine}, without: "sha256sum", says: []string{"needs sha256sum, shasum or openssl"},
		},
	} {
		for _, downloads := range []string{"wget", "curl"} {
			t.Run(name+"/"+downloads, func(t *testing.T) {
				t.Parallel()
				s := newSystem(t, downloads)
				if c.has != "" {
					s.write(t, s.program(), saying(c.has))
				}
				if c.cosign != "" {
					s.write(t, filepath.Join(s.bin, "cosign"), c.cosign)
				}
				if c.without != "" {
					_ = os.Remove(filepath.Join(s.bin, c.without))
				}
				output, err := s.run(theScript(t), serve(t, c.offers...), c.env...)
				if works := c.want != "" && c.want != c.has || name == "it is there"; works != (err == nil) {
					t.Errorf("%v:\n%s", err, output)
				}
				for _, text := range c.says {
					if !strings.Contains(output, text) {
						t.Errorf("does not say %q:\n%s", text, output)
					}
				}
				is, _ := os.ReadFile(s.program())
				want := ""
				if c.want != "" {
					want = saying(c.want)
				}
				if string(is) != want {
					t.Errorf("%q is there, want version %q:\n%s", is, c.want, output)
				}
				for _, file := range s.files(t) {
					if strings.Contains(file, "tmp") || strings.Contains(file, ".new") {
						t.Errorf("%s is left", file)
					}
				}
			})
		}
	}
}

// A release has what install.sh downloads.
func TestReleaseHasIt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Archives []struct {
			Name    string   `yaml:"name_template"`
			Formats []string `yaml:"formats"`
			Files   []struct {
				Src string `yaml:"src"`
			} `yaml:"files"`
		} `yaml:"archives"`
		Checksum struct {
			Name string `yaml:"name_template"`
		} `yaml:"checksum"`
		Signs []struct {
			Artifacts string `yaml:"artifacts"`
			Signature string `yaml:"signature"`
		} `yaml:"signs"`
		Release struct {
			Extra []struct {
				Glob string `yaml:"glob"`
			} `yaml:"extra_files"`
		} `yaml:"release"`
	}
	if err := yaml.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	var says []string
	for _, a := range made.Archives {
		says = append(says, a.Name+"."+a.Formats[0])
		for _, file := range a.Files {
			says = append(says, file.Src)
		}
	}
	for _, s := range made.Signs {
		says = append(says, s.Artifacts+" "+s.Signature)
	}
	for _, e := range made.Release.Extra {
		says = append(says, e.Glob)
	}
	want := []string{
		"{{ .ProjectName }}_{{ .Version }}_{{ .Os }}_{{ .Arch }}.tar.gz",
		"LICENSE", "README.md", "completions/*", "man/*.1",
		"checksum ${artifact}.sigstore.json", "install.sh", "checksums.txt",
	}
	if says = append(says, made.Checksum.Name); !slices.Equal(says, want) {
		t.Errorf("a release has %q, want %q", says, want)
	}
}

// Completions and pages are where shells and man look for them, unless that is not wanted.
func TestInstalledFiles(t *testing.T) {
	t.Parallel()
	all := ".local/bin/berth .local/share/bash-completion/completions/berth " +
		".local/share/fish/vendor_completions.d/berth.fish .local/share/man/man1/berth.1 " +
		".local/share/zsh/site-functions/_berth"
	for name, c := range map[string]struct{ env, want string }{
		"all":             {"", all},
		"no completions":  {"BERTH_COMPLETIONS=no", ".local/bin/berth"},
		"another place":   {"BERTH_INSTALL_DIR=tools", all},
		"below data home": {"XDG_DATA_HOME=data", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, want := newSystem(t, "wget"), c.want
			key, value, _ := strings.Cut(c.env, "=")
			switch key {
			case "BERTH_INSTALL_DIR":
				want = strings.Replace(all, ".local/bin/berth ", "", 1) + " tools/berth"
				c.env = key + "=" + filepath.Join(s.home, value)
			case "XDG_DATA_HOME":
				want = strings.ReplaceAll(all, ".local/share", "data")
				c.env = key + "=" + filepath.Join(s.home, value)
			}
			if output, err := s.run(theScript(t), serve(t, release{version: "1.0.0"}), c.env); err != nil {
				t.Fatalf("%v:\n%s", err, output)
			}
			if is := strings.Join(s.files(t), " "); is != want {
				t.Errorf("has %s, want %s", is, want)
			}
		})
	}
}

// Of a script that arrives in part, nothing runs.
func TestHalfAScript(t *testing.T) {
	t.Parallel()
	text := theScript(t)
	s := newSystem(t, "wget")
	url := serve(t, release{version: "1.0.0"})
	for end := 0; end < len(text)-len("main\n"); end += 97 {
		output, _ := s.run(text[:end], url)
		if files := s.files(t); len(files) > 0 {
			t.Fatalf("after %d bytes of the script: %s\n%s", end, files, output)
		}
	}
}

// A platform without archives says so before anything is downloaded.
func TestOtherPlatforms(t *testing.T) {
	t.Parallel()
	for kernel, says := range map[string]string{
		"FreeBSD amd64": "does not know FreeBSD", "Linux riscv64": "no archive for riscv64",
	} {
		s := newSystem(t, "")
		name, machine, _ := strings.Cut(kernel, " ")
		_ = os.Remove(filepath.Join(s.bin, "uname"))
		s.write(t, filepath.Join(s.bin, "uname"), "#!/bin/sh\n[ $1 = -s ] && echo "+name+" || echo "+machine+"\n")
		output, err := s.run(theScript(t), "http://127.0.0.1:1")
		if err == nil || !strings.Contains(output, says) {
			t.Errorf("on %s: %v\n%s", kernel, err, output)
		}
	}
}
