package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/diagnose"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/watch/cause"
)

// mutants is how many of all dumps are read.
const mutants = 6000

// Whatever is wrong with a dump, reading it ends with a diagnosis or an error, and with a
// status that is in the table. The mutants are the same each time.
func TestMutants(t *testing.T) {
	dumps := originals(t)
	wanted := mutants
	if testing.Short() {
		wanted /= 20
	}
	diagnoses := 0
	for i := range wanted {
		original := dumps[i%len(dumps)]
		m := mutator{rand.New(rand.NewPCG(1, uint64(i)))}
		text := m.mutant(original.documents)
		t.Run(fmt.Sprintf("%s/%d", original.name, i), func(t *testing.T) {
			if read(t, text) {
				diagnoses++
			}
		})
	}
	t.Logf("%d of %d are diagnosed", diagnoses, wanted)
	if diagnoses < wanted/2 {
		t.Error("most mutants are refused: they show nothing of the diagnosis")
	}
}

// read diagnoses a dump as the command does, in each form of the output in turn.
func read(t *testing.T, text []byte) (diagnosed bool) {
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("panic: %v\n%s", r, text)
		}
	}()
	streams, _ := terminal.Test(string(text), time.Date(2026, time.November, 21, 11, 0, 0, 0, time.UTC))
	formats := []string{"text", "json", "yaml"}
	format, err := printer.ParseFormat(formats[len(text)%len(formats)])
	if err != nil {
		t.Fatal(err)
	}
	err = diagnose.Run(context.Background(), &diagnose.Options{
		IO: streams, FromFile: true, File: "-", Output: format, ExitCode: true,
		Config: func() (config.Config, error) { return config.Config{Policy: cause.DefaultPolicy()}, nil },
	})
	failed, isStatus := errors.AsType[cmdutil.ExitError](err)
	switch {
	case err == nil:
		return true
	case isStatus:
		return int(failed) == fault.Failed.Exit()
	case fault.CodeOf(err) != fault.InvalidArgument:
		t.Errorf("%s: %v\n%s", fault.CodeOf(err), err, text)
	}
	return false
}

// original is a dump as the JSON documents that it has.
type original struct {
	name      string
	documents [][]byte
}

func originals(t *testing.T) (found []original) {
	t.Helper()
	add := func(path string, raw []byte) {
		o := original{name: filepath.Base(path)}
		switch filepath.Ext(path) {
		case ".yaml":
			text, err := yaml.YAMLToJSON(raw)
			if err != nil {
				t.Fatal(path, err)
			}
			o.documents = [][]byte{text}
		case ".json", ".jsonl":
			decoder := json.NewDecoder(bytes.NewReader(raw))
			for {
				var document json.RawMessage
				if decoder.Decode(&document) != nil {
					break
				}
				o.documents = append(o.documents, document)
			}
		}
		if len(o.documents) > 0 {
			found = append(found, o)
		}
	}
	for _, dir := range []string{"testdata/cases", recordings} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "expected.yaml" {
				return err
			}
			raw, err := os.ReadFile(path)
			add(path, raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 60 {
		t.Fatalf("%d dumps", len(found))
	}
	return found
}

// mutator breaks dumps.
type mutator struct{ *rand.Rand }

// mutant is a dump with some changes, as it could come from a broken program or a
// hostile person.
func (m mutator) mutant(documents [][]byte) []byte {
	changed := m.IntN(len(documents))
	var b bytes.Buffer
	for i, raw := range documents {
		if i != changed {
			b.Write(raw)
			b.WriteByte('\n')
			continue
		}
		var tree any
		_ = json.Unmarshal(raw, &tree) // it is valid
		for range 1 + m.IntN(4) {
			m.change(&tree)
		}
		text, _ := json.Marshal(tree)
		switch m.IntN(8) {
		case 0:
			if text, _ = yaml.JSONToYAML(text); len(documents) > 1 {
				text = slices.Concat([]byte("---\n"), text, []byte("---\n"))
			}
		case 1:
			text = text[:m.IntN(len(text)+1)]
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// change changes one value in a tree.
func (m mutator) change(tree *any) {
	all := spots(*tree, func(v any) { *tree = v }, nil)
	here, there := all[m.IntN(len(all))], all[m.IntN(len(all))]
	switch m.IntN(8) {
	case 0, 1:
		here.remove()
	case 2:
		here.double()
	case 3:
		here.set(clone(there.value)) // another one comes twice
	case 4:
		here.set(nil)
	case 5:
		here.set(m.other())
	default:
		here.set(m.moved(here.value))
	}
}

// clone is a value that has nothing in common with the tree where it is from: it may have
// contained the place where it is put.
func clone(v any) (copied any) {
	text, _ := json.Marshal(v)
	_ = json.Unmarshal(text, &copied)
	return copied
}

// other is a value of another type, or beyond what is usual.
func (m mutator) other() any {
	all := []any{
		"", "x", 0, -1, math.MaxInt32, 1e300, true,
		[]any{},
		map[string]any{},
		[]any{nil},
		map[string]any{"": nil},
		strings.Repeat("long ", 2000),
		"\x1b[31mred\x00\n", "../../etc", "%s%!d", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
		"9223372036854775807",
		"1e99", "-1Ki", "Failed", "Unknown",
	}
	return all[m.IntN(len(all))]
}

// moved is a time at another time, a number near another, and a part of a text.
func (m mutator) moved(v any) any {
	switch v := v.(type) {
	case float64:
		return v + float64(m.IntN(7)-3)
	case bool:
		return !v
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			by := []time.Duration{
				time.Second, -time.Minute, time.Hour, -24 * time.Hour, 1000 * time.Hour, math.MaxInt64,
				math.MinInt64,
			}
			return at.Add(by[m.IntN(len(by))]).UTC().Format(time.RFC3339)
		}
		return v[:m.IntN(len(v)+1)]
	}
	return v
}

// spot is a value in a tree.
type spot struct {
	value          any
	set            func(any)
	remove, double func()
}

// spots are those of a tree, in the same order each time.
func spots(v any, set func(any), all []spot) []spot {
	nothing := func() {}
	if all == nil {
		all = append(all, spot{v, set, nothing, nothing})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			put := func(x any) { v[key] = x }
			all = append(all, spot{v[key], put, func() { delete(v, key) }, func() { v[key] = []any{v[key], v[key]} }})
			all = spots(v[key], put, all)
		}
	case []any:
		for i := range v {
			put := func(x any) { v[i] = x }
			remove := func() { set(slices.Concat(v[:i], v[i+1:])) }
			all = append(all, spot{v[i], put, remove, func() { set(append(slices.Clone(v), v[i])) }})
			all = spots(v[i], put, all)
		}
	}
	return all
}
