package volume_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	commandvolume "github.com/berthdev/berth/internal/commands/volume"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
	"github.com/berthdev/berth/internal/terminal"
)

// What is removed is what was meant, and nothing if one of the IDs is wrong.
func TestPurge(t *testing.T) {
	all := []string{id("1f0c9a2b4d5e"), id("2222222222aa"), id("2222222222bb"), id("cccccccccccc"), id("dddddddddddd")}
	for args, c := range map[string]struct {
		status int
		purged []string
		says   string
	}{
		"1f0c":                        {0, all[:1], "Removed 1f0c9a2b4d on node n1, storage build of alice~dev"},
		"1f0c csi-1f0c9a2b " + all[0]: {0, all[:1], ""},
		"1f0c 2222222222b":            {0, []string{all[0], all[2]}, ""},
		"2222222222":                  {2, nil, `"2222222222" is ambiguous: 2 volumes`},
		"2222222222 --node n2":        {0, all[2:3], ""},
		"1f0c ffffff 2222222222":      {7, nil, "2 volumes cannot be removed; nothing was removed"},
		"1f0":                         {2, nil, `"1f0" is too short`},
		"csi-":                        {2, nil, `"csi-" is too short`},
		"--all-of alice":              {0, all[:2], ""},
		"--all-of alice~dev":          {0, all[:1], ""},
		"--all-of carol":              {0, nil, "no such volumes"},
	} {
		t.Run(args, func(t *testing.T) {
			drivers := fleet()
			newWorld(t, drivers)
			status, stdout, stderr := cmdtest.Run(t, "",
				append([]string{"volume", "purge", "--yes"}, strings.Fields(args)...)...)
			if status != c.status || !strings.Contains(stdout+stderr, c.says) {
				t.Errorf("%d, %s%s", status, stdout, stderr)
			}
			got := slices.Concat(drivers["n1"].purged, drivers["n2"].purged)
			slices.Sort(got)
			if diff := cmp.Diff(c.purged, got,
				cmp.Transformer("empty",
					func(all []string) []string { return append([]string{}, all...) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// One that cannot be removed does not keep the others, and each is said.
func TestPurgeFails(t *testing.T) {
	drivers := fleet()
	drivers["n2"].failing = map[string]error{id("2222222222bb"): fault.New(fault.Conflict, "volume is being restored")}
	newWorld(t, drivers)
	status, stdout, _ := cmdtest.Run(t, "", "volume", "purge", "--yes", "1f0c", "2222222222bb", "-o", "json")
	schematest.Validate(t, []byte(stdout))
	var d v1.VolumePurge
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if status != 3 || len(d.Items) != 2 || d.Items[0].Error != nil || d.Items[1].Error.Code != "CONFLICT" ||
		d.Items[1].Error.Message != "volume is being restored" {
		t.Errorf("%d, %+v", status, d)
	}
}

// Somebody is asked, about a list; without a terminal nothing is removed unless --yes says so.
func TestPurgeAsks(t *testing.T) {
	for answer, want := range map[string]fault.Code{"y\n": "", "n\n": fault.Interrupted, "": fault.Interrupted} {
		drivers := fleet()
		newWorld(t, drivers)
		s, b := terminal.Test(answer, now())
		s.In.TTY, s.Err.TTY, s.Out.TTY = true, true, true
		f := cmdutil.NewFactory(s, func(string) string { return "" })
		o := &commandvolume.PurgeOptions{Drivers: commandvolume.Drivers{
			IO: s, Open: f.Volumes, Namespace: "berth-volumes",
			Timeout: time.Minute,
		}, AllOf: "alice"}
		err := commandvolume.Purge(t.Context(), o)
		if fault.CodeOf(err) != want || (len(drivers["n1"].purged) == 2) != (err == nil) {
			t.Errorf("%q: %v, %q", answer, err, drivers["n1"].purged)
		}
		if answer == "y\n" {
			goldentest.Check(t, "purge.txt", b.Err.String()+b.Out.String())
		}
	}
	newWorld(t, fleet())
	if _, stderr := cmdtest.Must(t, 2, "volume", "purge", "1f0c"); !strings.Contains(stderr, "--yes is required") {
		t.Error(stderr)
	}
}

func TestOptions(t *testing.T) {
	base := commandvolume.Drivers{Namespace: "berth-volumes"}
	cmdtest.Options(t, commandvolume.NewPurge,
		func(o *commandvolume.PurgeOptions) { o.IO, o.Open = terminal.Streams{}, nil },
		map[string]cmdtest.Case[commandvolume.PurgeOptions]{
			"some": {
				Args: "abcd efgh --yes",
				Want: commandvolume.PurgeOptions{Drivers: base, IDs: []string{"abcd", "efgh"}, Yes: true},
			},
			"of": {
				Args: "--all-of alice --yes",
				Want: commandvolume.PurgeOptions{Drivers: base, AllOf: "alice", Yes: true, IDs: []string{}},
			},
			"nothing":     {Args: "--yes", Err: "requires the ID of a volume, or --all-of"},
			"both":        {Args: "abcd --all-of alice --yes", Err: "mutually exclusive"},
			"no question": {Args: "abcd", Err: "--yes is required"},
			"too short":   {Args: "abc --yes", Err: "too short"},
		})
	forget := func(o *commandvolume.RestoreOptions) { o.IO, o.Open, o.Pods = terminal.Streams{}, nil, cmdutil.Pods{} }
	cmdtest.Options(t, commandvolume.NewRestore, forget, map[string]cmdtest.Case[commandvolume.RestoreOptions]{
		"here": {Args: "abcd --to x", Want: commandvolume.RestoreOptions{Drivers: base, ID: "abcd", To: "x"}},
		"there": {
			Args: "abcd --into alice~dev:/a:b --overwrite --node n1",
			Want: commandvolume.RestoreOptions{
				Drivers: commandvolume.Drivers{Namespace: "berth-volumes", Node: "n1"},
				ID:      "abcd", Into: "alice~dev", Path: "/a:b", Overwrite: true,
			},
		},
		"nowhere":       {Args: "abcd", Err: "--to or --into is required"},
		"both":          {Args: "abcd --to x --into alice", Err: "mutually exclusive"},
		"no workspace":  {Args: "abcd --into :x", Err: "names no workspace"},
		"no volume":     {Args: "--to x", Err: "requires one volume"},
		"several":       {Args: "abcd efgh --to x", Err: "requires one volume"},
		"no namespace":  {Args: "abcd --to x --driver-namespace=", Err: "--driver-namespace must not be empty"},
		"negative time": {Args: "abcd --to x --timeout -1s", Err: "--timeout must not be negative"},
	})
	cmdtest.Options(t, commandvolume.NewList,
		func(o *commandvolume.ListOptions) { o.IO, o.Open, o.Find = terminal.Streams{}, nil, nil },
		map[string]cmdtest.Case[commandvolume.ListOptions]{
			"all": {Args: "", Want: commandvolume.ListOptions{Drivers: base}},
			"of": {
				Args: "--of alice --node n1",
				Want: commandvolume.ListOptions{
					Drivers: commandvolume.Drivers{Namespace: "berth-volumes", Node: "n1"},
					Of:      "alice", ByPods: true,
				},
			},
			"what is in one": {
				Args: "1f0c9a2b4d:logs/a:b",
				Want: commandvolume.ListOptions{Drivers: base, ID: "1f0c9a2b4d", Path: "logs/a:b"},
			},
			"too short":                 {Args: "x", Err: "too short for the ID of a volume"},
			"two":                       {Args: "1234 5678", Err: "accepts at most one volume"},
			"what is in one, of a node": {Args: "1234 --node n1", Err: "are about the list of volumes"},
		})
}

// IDs and nodes are completed.
func TestCompletion(t *testing.T) {
	newWorld(t, fleet())
	for args, want := range map[string][]string{
		"volume purge ": {
			"1f0c9a2b4d5", "2222222222a\talice cache on n1", "2222222222b",
			"ccccccccccc\teve~dev", "ddddddddddd",
		},
		"volume purge 1f0c9a2b4d ":   {"2222222222", "cccccccccc", "dddddddddd"},
		"volume restore ":            {"1f0c9a2b4d"},
		"volume restore 1f0c9a2b4d ": nil,
		"volume list --node ":        {"n1", "n2"},
	} {
		words := strings.Split(args, " ")
		stdout, _ := cmdtest.Must(t, 0, append([]string{"__complete"}, words...)...)
		for _, w := range want {
			if !strings.Contains(stdout, w) {
				t.Errorf("%s: %s lacks %s", args, stdout, w)
			}
		}
		if len(want) == 0 && !strings.HasPrefix(stdout, ":") {
			t.Errorf("%s: %s", args, stdout)
		}
		if strings.Contains(args, "1f0c") && strings.Contains(stdout, "1f0c") {
			t.Errorf("%s: %s", args, stdout)
		}
	}
}
