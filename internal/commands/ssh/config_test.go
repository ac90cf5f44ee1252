package ssh_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/ssh"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/schematest"
	"github.com/berthdev/berth/internal/skiptest"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// configured is a run of `berth ssh config` by somebody whose home is a directory.
func configured(t *testing.T, home string, change func(*ssh.ConfigOptions)) (out string, err error) {
	t.Helper()
	out, _, err = configuredAsking(t, home, change)
	return out, err
}

// configuredAsking is that with standard error.
func configuredAsking(
	t *testing.T, home string, change func(*ssh.ConfigOptions),
) (out, asked string, err error) {
	t.Helper()
	streams, buffers := terminal.Test("", time.Now())
	dir := filepath.Join(home, ".config", "berth", "ssh")
	o := &ssh.ConfigOptions{
		IO: streams, Yes: true, Read: sshconfig.Read,
		Places: func(context.Context, bool) (ssh.Places, error) {
			return ssh.Places{
				Dir: dir, Own: filepath.Join(dir, "config"), User: filepath.Join(home, ".ssh", "config"),
				Include: "~/.config/berth/ssh/config", KnownHosts: filepath.Join(dir, "known_hosts"),
				Known: func() error { _, err := sshconfig.Known(dir); return err },
			}, nil
		},
		Executable: func() (string, error) { return "/usr/local/bin/berth", nil },
		Pinned:     func() (env, flags []string, err error) { return nil, []string{"--context=prod"}, nil },
		Workspaces: func() ([]string, error) { return []string{"bob-2", "alice-1"}, nil },
		Namespace:  func() (string, error) { return "team", nil },
	}
	if change != nil {
		change(o)
	}
	err = ssh.RunConfig(t.Context(), o)
	return buffers.Out.String(), buffers.Err.String(), err
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// What is written once is not written again, and what is taken out leaves the file that was there.
func TestConfig(t *testing.T) {
	for name, before := range map[string]string{
		"no file": "", "hosts": "Host a\n  User b\n", "Windows": "Host a\r\n  User b\r\n", "no newline": "Host a",
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			user := filepath.Join(home, ".ssh", "config")
			if before != "" {
				if err := os.Mkdir(filepath.Dir(user), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(user, []byte(before), 0o640); err != nil { //nolint:gosec // its mode is kept
					t.Fatal(err)
				}
			}
			out, err := configured(t, home, nil)
			if err != nil || !strings.Contains(out, "+Host *.berth\n") || !strings.Contains(out, "+Include ") {
				t.Fatalf("%v\n%s", err, out)
			}
			after := contents(t, user)
			if !strings.HasPrefix(after, `Include "~/.config/berth/ssh/config"`) || !strings.HasSuffix(after, before) {
				t.Errorf("%q", after)
			}
			if out, err := configured(t, home, nil); err != nil || !strings.HasPrefix(out, "nothing to change: ") {
				t.Errorf("a second time: %v\n%s", err, out)
			}
			second := func(o *ssh.ConfigOptions) { o.Block.Name = "prod" }
			if out, err := configured(t, home, second); err != nil || strings.Contains(out, "Include") ||
				!strings.Contains(out, "ssh ID.prod.berth") {
				t.Errorf("%v\n%s", err, out)
			}
			for _, block := range []string{"", "prod"} {
				if _, err := configured(t, home,
					func(o *ssh.ConfigOptions) { o.Remove, o.Block.Name = true, block }); err != nil {
					t.Error(err)
				}
			}
			if left := contents(t, user); left != before {
				t.Errorf("%q is left of %q", left, before)
			}
		})
	}
}

func TestConfigWritesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*ssh.ConfigOptions)
		says   string
		err    string
	}{
		"a dry run": {func(o *ssh.ConfigOptions) { o.DryRun = true }, "+Host *.berth", ""},
		"the file": {
			func(o *ssh.ConfigOptions) { o.Print, o.List = true, true },
			"Host alice-1.berth\nHost bob-2.berth\nHost *.berth", "",
		},
		"unasked":    {func(o *ssh.ConfigOptions) { o.Yes = false }, "+Host *.berth", "--yes is required"},
		"no block":   {func(o *ssh.ConfigOptions) { o.Remove = true }, "nothing to remove", ""},
		"no cluster": {func(o *ssh.ConfigOptions) { o.Pinned = noCluster }, "", "no cluster"},
	} {
		home := t.TempDir()
		out, err := configured(t, home, test.change)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) ||
			!strings.Contains(out, test.says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is written, %v", name, left, err)
		}
	}
}

func noCluster() (env, flags []string, err error) {
	return nil, nil, fault.New(fault.InvalidArgument, "no cluster")
}

// A file of somebody else in the place of berth's stays as it is, and is named.
func TestConfigOfOthers(t *testing.T) {
	home := t.TempDir()
	own := filepath.Join(home, ".config", "berth", "ssh", "config")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("Host mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := configured(t, home, nil); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), own) {
		t.Error(err)
	}
	if left := contents(t, own); left != "Host mine\n" {
		t.Errorf("%q", left)
	}
}

// With --output, standard output has one document that says the same, or nothing if it fails: what is asked about is
// on standard error.
func TestConfigDocument(t *testing.T) {
	json, err := printer.ParseFormat("json")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	const absent, created, removed, same = "", v1.SSHFileCreated, v1.SSHFileRemoved, v1.SSHFileUnchanged
	for _, test := range []struct {
		name    string
		change  func(*ssh.ConfigOptions)
		files   v1.SSHFileChange
		written bool
		asks    bool
	}{
		{"a dry run", func(o *ssh.ConfigOptions) { o.DryRun = true }, created, false, false},
		{"unasked", func(o *ssh.ConfigOptions) { o.Yes = false }, absent, false, true},
		{"written", nil, created, true, false},
		{"again", nil, same, false, false},
		{"again, unasked", func(o *ssh.ConfigOptions) { o.Yes = false }, same, false, false},
		{"removed", func(o *ssh.ConfigOptions) { o.Remove = true }, removed, true, false},
		{"removed again", func(o *ssh.ConfigOptions) { o.Remove = true }, same, false, false},
	} {
		var options *ssh.ConfigOptions
		out, asked, err := configuredAsking(t, home, func(o *ssh.ConfigOptions) {
			options, o.Output, o.List = o, json, true
			if test.change != nil {
				test.change(o)
			}
		})
		if strings.Contains(asked, "+Host *.berth\n") != test.asks || !test.asks && asked != "" {
			t.Errorf("%s: on standard error is %q", test.name, asked)
		}
		if test.files == absent {
			if err == nil || out != "" {
				t.Errorf("%s: %q, %v", test.name, out, err)
			}
			continue
		}
		schematest.Validate(t, []byte(out))
		var doc v1.SSHConfiguration
		if err := stdjson.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		if err != nil || doc.Written != test.written || doc.DryRun != options.DryRun ||
			doc.Removal != options.Remove || doc.Pattern != "*.berth" || len(doc.Files) != 2 ||
			!options.Remove && !slices.Equal(doc.Hosts, []string{"alice-1.berth", "bob-2.berth"}) {
			t.Errorf("%s: %v\n%s", test.name, err, out)
		}
		for i, sign := range []string{"Host *.berth\n", "Include "} {
			file := doc.Files[i]
			if file.Change != test.files || strings.Contains(file.Diff, "+"+sign) != (test.files == created) ||
				strings.Contains(file.Diff, "-"+sign) != (test.files == removed) {
				t.Errorf("%s: %s, want %s\n%s", test.name, file.Change, test.files, file.Diff)
			}
		}
	}
}

// -o is an option of ssh, as with ssh; a format that is meant is not written as one.
func TestConfigOptions(t *testing.T) {
	cmdtest.Offline(t)
	t.Setenv("HOME", t.TempDir())
	cmdtest.Unreachable(t)
	out, _ := cmdtest.Must(t, 0, "ssh", "config", "--print", "-o", "Compression=yes", "-o", "LogLevel ERROR")
	if !strings.Contains(out, "  Compression yes\n  LogLevel ERROR\n") {
		t.Error(out)
	}
	for _, format := range []string{"json", "jsonpath={.pattern}"} {
		status, out, says := cmdtest.Run(t, "", "ssh", "config", "--print", "-o", format)
		if status != 2 || !strings.Contains(out+says, "-o is --option here: write --output") {
			t.Errorf("%s: %d\n%s%s", format, status, out, says)
		}
	}
	if out, _ := cmdtest.Must(t, 2, "ssh", "config", "--print", "--output", "json"); !strings.Contains(out,
		"--print is mutually exclusive") {
		t.Error(out)
	}
}

// A list is made by --list, and kept by a run that does not say whether there is one: unless it would be that of
// another cluster or namespace.
func TestConfigList(t *testing.T) {
	const listed = "# --list: the workspaces of namespace \"team\"\n" +
		"Host alice-1.berth\nHost bob-2.berth\nHost *.berth\n"
	list := func(o *ssh.ConfigOptions) { o.List = true }
	more := func(o *ssh.ConfigOptions) {
		o.KeepList, o.Start = true, true
		o.Workspaces = func() ([]string, error) { return nil, errors.New("the cluster is asked") }
	}
	for name, test := range map[string]struct {
		then func(*ssh.ConfigOptions)
		kept bool
	}{
		"with --list":        {list, true},
		"without it":         {more, true},
		"with --list=false":  {func(o *ssh.ConfigOptions) { more(o); o.KeepList = false }, false},
		"of a gateway":       {func(o *ssh.ConfigOptions) { more(o); o.Start, o.Gateway = false, "office" }, false},
		"of another cluster": {func(o *ssh.ConfigOptions) { more(o); o.Pinned = pinnedTo("--context=test") }, false},
		"as somebody else": {
			func(o *ssh.ConfigOptions) { more(o); o.Pinned = pinnedTo("--context=prod", "--as=x") }, true,
		},
		"of another namespace": {func(o *ssh.ConfigOptions) { more(o); o.Namespace = elsewhere }, false},
	} {
		home := t.TempDir()
		own := filepath.Join(home, ".config", "berth", "ssh", "config")
		for _, change := range []func(*ssh.ConfigOptions){list, test.then} {
			if _, err := configured(t, home, change); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		text := contents(t, own)
		kept := strings.Contains(text, listed)
		if kept != test.kept || !kept && strings.Contains(text, "Host alice-1") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func elsewhere() (string, error) { return "x", nil }

func pinnedTo(words ...string) func() (env, flags []string, err error) {
	return func() (env, flags []string, err error) { return nil, words, nil }
}

// An option that ssh does not know would end every connection of the user's: it is refused, and nothing is written.
func TestConfigIsOneThatSSHTakes(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		skiptest.Lacks(t, "needs ssh")
	}
	for name, c := range map[string]struct {
		option, want string
	}{
		"one that it knows":     {"Compression yes", ""},
		"one of another system": {"UseKeychain yes", "Bad configuration option: usekeychain"},
		"a misspelled one":      {"Comprssion yes", "Bad configuration option: comprssion"},
		"a bad value":           {"ServerAliveInterval often", "invalid time value"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			_, err := configured(t, home, func(o *ssh.ConfigOptions) {
				o.Block.Options, o.Check = []string{c.option}, ssh.CheckedBySSH
			})
			text := contents(t, filepath.Join(home, ".config", "berth", "ssh", "config"))
			if c.want == "" {
				if err != nil || !strings.Contains(text, c.option) {
					t.Errorf("%v, %s", err, text)
				}
				return
			}
			if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), c.want) || text != "" {
				t.Errorf("%v, %s", err, text)
			}
		})
	}
}
