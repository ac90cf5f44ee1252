package sshconfig

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// lists is a file with three blocks: of a cluster, of it under a name, and of another cluster.
func lists(t *testing.T) (text []byte) {
	t.Helper()
	for _, b := range []Block{
		{Proxy: proxy("--context=prod"), Hosts: []string{"alice-1"}, Namespace: "team"},
		{
			Name: "p", Proxy: proxy("--namespace=x", "--context=prod"), Hosts: []string{"alice-1", "bob-2"},
			Namespace: "team",
		},
		{Name: "q", Proxy: proxy("--context=test"), Hosts: []string{"alice-1"}, Namespace: "team"},
		{Name: "r", Proxy: proxy("--context=prod"), Hosts: []string{"alice-1"}, Namespace: "other"},
		{Name: "s", Proxy: proxy("--context=prod")},
	} {
		var err error
		b.KnownHosts = "/k"
		if text, err = SetBlock(text, b); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

func proxy(flags ...string) []string { return append([]string{"berth", "ssh", "proxy"}, flags...) }

// What the blocks of a cluster list follows the workspaces of their namespace, and nothing else changes.
func TestFollow(t *testing.T) {
	before := lists(t)
	came := func(id string) Move { return Move{Namespace: "team", ID: id} }
	gone := func(id string) Move { return Move{Namespace: "team", ID: id, Gone: true} }
	for name, test := range map[string]struct {
		moves []Move
		first string // what the first block lists then
		named string // what the one under a name does
	}{
		"one came":          {[]Move{came("carol-3")}, "alice-1 carol-3", "alice-1 bob-2 carol-3"},
		"one was there":     {[]Move{came("alice-1")}, "alice-1", "alice-1 bob-2"},
		"one came to some":  {[]Move{came("bob-2")}, "alice-1 bob-2", "alice-1 bob-2"},
		"one went":          {[]Move{gone("alice-1")}, "", "bob-2"},
		"one was not there": {[]Move{gone("dave-4")}, "alice-1", "alice-1 bob-2"},
		"several": {
			[]Move{gone("alice-1"), came("carol-3"), came("al.ice_9")}, "al.ice_9 carol-3", "al.ice_9 bob-2 carol-3",
		},
		"elsewhere": {[]Move{{Namespace: "third", ID: "carol-3"}}, "alice-1", "alice-1 bob-2"},
		"a pattern": {
			[]Move{came("*"), came("a b"), came("!x"), came("x\nHost *"), came("")}, "alice-1", "alice-1 bob-2",
		},
		"nothing": {nil, "alice-1", "alice-1 bob-2"},
	} {
		after := Follow(before, []string{"--context=prod"}, test.moves)
		for block, want := range map[string]string{"": test.first, "p": test.named, "q": "alice-1", "r": "alice-1"} {
			namespace, ids, ok := Listed(after, block)
			if got := strings.Join(ids, " "); got != want || !ok || namespace == "" {
				t.Errorf("%s: block %q lists %q of %q, want %q", name, block, got, namespace, want)
			}
		}
		if _, _, ok := Listed(after, "s"); ok {
			t.Errorf("%s: a block without a list has one", name)
		}
		if same := bytes.Equal(after, before); same == Follows(before, test.moves) {
			t.Errorf("%s: it changes: %t", name, !same)
		}
		if again := Follow(after, []string{"--context=prod"}, test.moves); !bytes.Equal(again, after) {
			t.Errorf("%s: a second time:\n%s", name, again)
		}
	}
	hand := []byte("Host *\n" + string(before))
	if after := Follow(hand, []string{"--context=prod"}, []Move{came("carol-3")}); !bytes.Equal(after, hand) {
		t.Error("a file of somebody else is changed")
	}
	windows := []byte(strings.ReplaceAll(string(before), "\n", "\r\n"))
	if after := Follow(windows, []string{"--context=prod"}, []Move{came("alice-1")}); !bytes.Equal(after, windows) {
		t.Error("a file is written in which nothing moves")
	}
}

// A block leads to a cluster if its proxy is told that one, and no other.
func TestLeads(t *testing.T) {
	for name, test := range map[string]struct {
		proxy, words []string
		leads        bool
	}{
		"the same":          {proxy("--context=prod"), []string{"--context=prod"}, true},
		"more flags":        {proxy("--as=bob", "--context=prod", "--start"), []string{"--context=prod"}, true},
		"fewer flags":       {proxy("--context=prod"), []string{"--as=bob", "--context=prod"}, false},
		"another context":   {proxy("--context=prod"), []string{"--context=pro"}, false},
		"blanks and quotes": {proxy(`--context=my "prod" 100% $x`), []string{`--context=my "prod" 100% $x`}, true},
		"part of a context": {proxy("--context=a --context=b"), []string{"--context=b"}, false},
		"another file":      {proxy("--kubeconfig=/k", "--context=prod"), []string{"--context=prod"}, false},
		"another server":    {proxy("--context=prod", "--server=https://x"), []string{"--context=prod"}, false},
		"files of a variable": {
			append([]string{"env", "KUBECONFIG=/a:/my b"}, proxy("--context=prod")...),
			[]string{"--context=prod"},
			false,
		},
		"the same variable": {
			append([]string{"env", "KUBECONFIG=/a:/my b"}, proxy("--context=prod")...),
			[]string{"KUBECONFIG=/a:/my b", "--context=prod"},
			true,
		},
		"in the cluster": {proxy(), nil, true},
	} {
		b := Block{Proxy: test.proxy, KnownHosts: "/k", Options: []string{"SetEnv --context=prod", "ProxyCommand x"}}
		text, err := SetBlock(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := Leads(text, "", test.words); got != test.leads {
			t.Errorf("%s: %t\n%s", name, got, text)
		}
	}
	if Leads(nil, "", nil) {
		t.Error("a block that is not there leads somewhere")
	}
}

// Whatever is in the file, blocks that are of another cluster or list nothing stay as they are, and of the others all
// but the list.
func FuzzFollow(f *testing.F) {
	f.Add(head+"\n"+marker+"\"\"\n"+listed+"\"team\"\nHost a.berth\nHost *.berth\n  ProxyCommand b --context=x %n\n",
		"team", "a")
	f.Add(head+"\n"+marker+"\"p\"\r\n"+listed+"\"team\"\nHost \\\" * ?\n", "team", "c")
	f.Add(head+"\n"+marker+"\"\n\n"+marker+"\"q\"\n"+listed+"\"\"\"", "\"", "*\n")
	f.Fuzz(func(t *testing.T, text, namespace, id string) {
		before, err := parseBlocks([]byte(text))
		if err != nil {
			return
		}
		cluster := []string{"--context=x"}
		for _, gone := range []bool{false, true} {
			out := Follow([]byte(text), cluster, []Move{{Namespace: namespace, ID: id, Gone: gone}})
			after, err := parseBlocks(out)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
				t.Fatalf("%q has other blocks than %q", out, text)
			}
			for name, block := range before {
				of, ids, rest, ok := takeApart(name, block)
				ofNow, idsNow, restNow, okNow := takeApart(name, after[name])
				if ok != okNow || of != ofNow || rest != restNow {
					t.Fatalf("block %q became %q", block, after[name])
				}
				if (!ok || of != namespace || !leads(block, cluster)) && block != after[name] {
					t.Fatalf("block %q of others became %q", block, after[name])
				}
				for _, now := range idsNow {
					if !isHost(now) || now != id && !slices.Contains(ids, now) {
						t.Fatalf("%q is listed in %q", now, after[name])
					}
				}
			}
		}
	})
}
