//go:build linux && !race

package chart_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/berthdev/berth/internal/chart"
	texttemplate "github.com/berthdev/berth/third_party/template"
)

// count is how many programs are rendered: more if somebody asks for it.
func count() int {
	if n, err := strconv.Atoi(os.Getenv(envFrom)); err == nil {
		return n
	}
	return 20
}

// programs are charts whose templates are made by chance of every function there is. Many
// calls fail, and end their template: so each has several.
func programs(n int) map[string]func() fstest.MapFS {
	functions := chart.Functions()
	all := map[string]func() fstest.MapFS{}
	for seed := range n {
		p := &program{
			rand: rand.New(rand.NewPCG(uint64(seed), 1)), functions: functions,
			names: slices.Sorted(maps.Keys(functions)),
		}
		files := map[string]string{"templates/_a.tpl": `{{ define "a" }}{{ if lt (len (toString .)) 100 }}` +
			`{{ list . . | include "a" }}{{ else }}{{ . }}{{ end }}{{ end }}`}
		for i := range 12 {
			files[fmt.Sprintf("templates/%02d.yaml",
				i)] = `{{ $s := "ab1, <\n" }}{{ $l := list 1 "a" }}{{ $d := dict "a" 1 "b" (list 1) }}` + p.block(0)
		}
		all[fmt.Sprintf("program %04d", seed)] = func() fstest.MapFS { return made(files) }
	}
	return all
}

// program makes templates of three variables: a text, a list and a dictionary, which its
// functions make larger.
type program struct {
	rand      *rand.Rand
	functions texttemplate.FuncMap
	names     []string
}

func (p *program) pick(from ...string) string { return from[p.rand.IntN(len(from))] }

func (p *program) block(depth int) string {
	var text strings.Builder
	for range 3 + p.rand.IntN(6) {
		text.WriteString(p.statement(depth))
	}
	return text.String()
}

func (p *program) statement(depth int) string {
	switch n := p.rand.IntN(12); {
	case n < 3 && depth < 4:
		return fmt.Sprintf("{{ range $i := until %s }}%s{{ end }}", p.number(), p.block(depth+1))
	case n == 3 && depth < 4:
		return fmt.Sprintf("{{ range $k, $v := %s }}%s{{ end }}", p.pick("$l", "$d"), p.block(depth+1))
	case n == 4:
		return "{{ $s = printf \"%s%s\" $s $s | trunc 4000000 }}"
	case n == 5:
		return fmt.Sprintf("{{ $l = %s }}",
			p.pick("append $l $d", "append $l $s", "concat $l $l", "list $l $l", "prepend $l (deepCopy $d)",
				"splitList \",\" $s", "until "+p.number(), "values $d", "keys $d", "sortAlpha $l", "chunk 2 $l",
				"uniq $l"))
	case n == 6:
		return fmt.Sprintf("{{ $_ := set $d (%s) (%s) }}", p.pick("toString (len $d)", "trunc 50 $s", "randAlpha 5"),
			p.pick("$l", "$s", "list $s $l", "dict \"x\" $l", "split \"b\" $s", "toYaml $l", "$d", "list $d"))
	case n == 7:
		return fmt.Sprintf("{{ $s = %s }}",
			p.pick("repeat 9 $s", "toYaml $d", "toJson $l", "quote $l", "js $s", "html $s", "b64enc $s", "indent 20 $s",
				"wrapWith 2 $s $s", "join $s $l", "regexReplaceAll \"a\" $s \"$0$0b\"", "replace \"a\" \"aaa\" $s",
				"tpl \"{{ toYaml . }}\" $l", "include \"a\" $s",
				"printf \"%50q\" $l", "toToml $d", "randAlphaNum "+p.number(), "snakecase $s", "cat $s $l",
				"seq "+p.number()))
	}
	return fmt.Sprintf("{{ $x%d := %s }}", p.rand.IntN(3), p.call(0))
}

// call is a function with arguments of the types that it takes.
func (p *program) call(depth int) string {
	name := p.names[p.rand.IntN(len(p.names))]
	if name == "fail" || name == "required" {
		name = "list"
	}
	takes, args := reflect.TypeOf(p.functions[name]), []string{name}
	for i := range takes.NumIn() {
		if takes.IsVariadic() && i == takes.NumIn()-1 {
			for range p.rand.IntN(4) {
				args = append(args, p.argument(takes.In(i).Elem(), depth))
			}
			break
		}
		args = append(args, p.argument(takes.In(i), depth))
	}
	return strings.Join(args, " ")
}

// argument is one of a type; of any type it may be the result of another call.
func (p *program) argument(of reflect.Type, depth int) string {
	switch of.Kind() {
	case reflect.String:
		return p.pick("$s", "$s", `"a"`, `"%50d"`, `"(a|b)*"`, `","`, `"2006 January"`, `"1.2.3"`, "(toString $l)")
	case reflect.Int, reflect.Int64:
		return p.number()
	case reflect.Map:
		return p.pick("$d", "(deepCopy $d)", "(dict $s $l)")
	case reflect.Slice:
		return "$l"
	case reflect.Struct:
		return "now"
	}
	if depth < 2 && p.rand.IntN(3) == 0 {
		return "(" + p.call(depth+1) + ")"
	}
	return p.pick("$s", "$l", "$l", "$d", p.number(), `"a"`)
}

func (p *program) number() string {
	return p.pick("1", "3", "20", "100", "1000", "90000", "-1", "900000")
}

// Whatever templates do, they end in time, within the memory of a server's pod, with what they
// make or an error.
func TestPrograms(t *testing.T) {
	t.Parallel()
	reports := inProcess(t, "programs")
	if len(reports) != count() {
		t.Errorf("%d of %d charts", len(reports), count())
	}
	for _, r := range reports {
		r.check(t)
	}
}
