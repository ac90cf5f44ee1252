//go:build linux && !race

package chart_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/berthdev/berth/internal/chart"
)

// What makes values that have no end, or none that anybody waits for: $c is in itself, of a
// mapping and of a list, and $w is small in memory and doubles whenever it is looked into.
const (
	cycle   = `{{ $c := dict "b" 1 }}{{ $_ := set $c "a" $c }}`
	cycleIn = `{{ $c := dict "b" 1 }}{{ $l := list $c }}{{ $_ := set $c "a" $l }}`
	doubles = `{{ $c := dict }}{{ range until 40 }}{{ $c = dict "a" $c "b" $c }}{{ end }}`
	many    = `{{ $c := list 1 }}{{ range until 22 }}{{ $c = list $c $c }}{{ end }}`
)

// large is a text of 8 MB that becomes four times as long when it is quoted.
const large = `{{ $x := "\x01" }}{{ range until 23 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`

// valueAttacks are the attacks by values, on functions and on what is none.
func valueAttacks() map[string]func() fstest.MapFS {
	all := map[string]func() fstest.MapFS{}
	for name, text := range map[string]string{
		"in itself: printed":    cycle + `{{ $c }}`,
		"in itself: a pipeline": cycle + `{{ $c | int }}`,
		"in itself: all loops": cycle +
			`{{ range $c }}{{ range $k, $v := . }}{{ end }}{{ else }}{{ end }}{{ if $c }}{{ with $c }}{{ .a.a.b ` +
			`}}{{ end }}{{ end }}`,
		"in itself: text":       cycle + `{{ toYaml $c }}`,
		"in itself: the values": `{{ $_ := set .Values "a" .Values }}{{ .Values.YAML }}`,
		"in itself: passed on": `{{ define "a" }}{{ eq . . }}{{ end }}{{ $_ := set .Values "a" . }}{{ ` +
			`include "a" . }}`,
		"in itself: passed to tpl":  cycle + `{{ tpl "{{ ne .c .c }}" (dict "Template" .Template "c" $c) }}`,
		"in itself: a subchart":     `{{ $_ := set .Subcharts "a" .Subcharts }}{{ eq .Subcharts .Subcharts }}`,
		"in itself: alternate name": cycle + `{{ $x := genSelfSignedCert "a" (list $c) (list) 1 }}`,
		"in itself: alternate DNS":  cycle + `{{ $x := genSelfSignedCert "a" (list) (list "a" $c) 1 }}`,
		"merged into itself": `{{ $x := dict "b" 1 }}{{ $d := dict "a" $x "c" $x }}{{ $y := merge $d (dict ` +
			`"a" $d "c" $d) }}`,
		"merged into itself, twice": `{{ $d := dict "a" (dict "b" 1) }}{{ $y := mustMergeOverwrite $d (dict "a" $d) ` +
			`(dict "a" $d) (dict "a" $d) }}`,
		"merged, and in itself": `{{ $d := dict }}{{ $y := merge $d (dict "a" $d) (dict "a" $d) }}{{ $y := ` +
			`mergeOverwrite $d (dict "a" $d) (dict "a" $d) }}`,
		"a loop over a mapping in itself": `{{ define "a" }}{{ range . }}{{ include "a" $ }}{{ end }}{{ end ` +
			`}}{{ $d := dict }}` +
			`{{ range until 100000 }}{{ $_ := set $d (toString .) . }}{{ end }}{{ include "a" $d }}`,
		"deep, and kept": `{{ $x := list }}{{ range until 1000000 }}{{ if lt . 350000 }}{{ $x = list $x }}{{ end }}` +
			`{{ end }}{{ $_ := set .Values "a" $x }}`,
		"an error in errors": large +
			`{{ define "a" }}{{ if lt (len .) 500 }}{{ include "a" (append . 1) }}{{ else }}` +
			`{{ fail (index . 0) }}{{ end }}{{ end }}{{ include "a" (list $x) }}`,
		"an error of a loop in errors": large +
			`{{ define "a" }}{{ if lt (len .) 500 }}{{ include "a" (append . 1) }}{{ else }}` +
			`{{ range (index . 0) }}{{ end }}{{ end }}{{ end }}{{ include "a" (list $x) }}`,
		"an error of a date": large + `{{ $y := mustToDate $x $x }}`,
		"no number": large +
			`{{ range until 100 }}{{ $y := add $x $x $x }}{{ $y = float64 $x }}{{ $y = atoi $x }}{{ end }}`,
		"no such template": large + `{{ include $x . }}`,
		"no template":      large + `{{ tpl (printf "%s{{" $x) . }}`,
		"no table":         large + `{{ .Values.Table $x }}`,
		"no value":         large + `{{ .Values.PathValue $x }}`,
	} {
		all["values: "+name] = func() fstest.MapFS { return template(text) }
	}
	all["values: in itself: a dependency"] = dependency
	all["values: the bytes of a file"] = func() fstest.MapFS {
		return made(map[string]string{
			"a":                strings.Repeat("a", 1<<20),
			"templates/a.yaml": `{{ $x := printf "%2000d" (index .Files "a") }}`,
		})
	}
	all["values: deep, and kept"] = func() fstest.MapFS {
		return made(map[string]string{
			"templates/a.yaml": "",
			"templates/b.yaml": `{{ $x := list }}{{ range until 380000 }}{{ $x = list $x }}{{ end }}{{ $_ := set ` +
				`.Values "a" $x }}`,
		})
	}
	return all
}

// dependency is a chart that can write into what it depends on.
func dependency() fstest.MapFS {
	return made(map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies:\n- name: b\n  version: 1.0.0\n" +
			"  import-values:\n  - {child: a, parent: b}\n",
		"charts/b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n",
		"templates/a.yaml": `{{ $d := first .Chart.Dependencies }}{{ $c := first $d.ImportValues }}{{ $_ := set $c ` +
			`"a" $c }}{{ range $d }}{{ end }}`,
	})
}

// calls are charts that call every function with values that have no end, in each place that
// takes them. Any call may end the rendering: so each place is a chart. Each is tried with one of
// the values in turn, with all of them if somebody asks for more.
func calls() map[string]func() fstest.MapFS {
	all := map[string]func() fstest.MapFS{}
	functions, turn := maps.Clone(chart.Functions()), 0
	for name, arguments := range map[string]int{
		"and": 3, "or": 3, "not": 1, "index": 3, "slice": 3, "len": 1, "call": 2,
		"lt": 2, "le": 2, "gt": 2, "ge": 2, "include": 2, "tpl": 2,
	} {
		functions[name] = reflect.MakeFunc(reflect.FuncOf(slices.Repeat([]reflect.Type{reflect.TypeFor[any]()},
			arguments), nil, false), nil).Interface()
	}
	values := []struct{ kind, text string }{
		{"cycle", cycle},
		{"list", cycleIn},
		{"doubles", doubles},
		{"many", many},
		{"text", large + `{{ $c := $x }}`},
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		takes := reflect.TypeOf(functions[name])
		places := takes.NumIn()
		if takes.IsVariadic() {
			places += 2
		}
		for place := range places {
			turn++
			for i, value := range values {
				if os.Getenv(envFrom) == "" && i != turn%len(values) {
					continue
				}
				all[fmt.Sprintf("call %s %d %s", name, place, value.kind)] = func() fstest.MapFS {
					return template(value.text + `{{ $l := list }}{{ $y := ` + called(name, takes, places, place) +
						` }}` +
						`{{ $y = ` + called(name, takes, places, -1) + ` }}`)
				}
			}
		}
	}
	return all
}

// called is a call with the value in one place, or in all of them.
func called(name string, takes reflect.Type, places, place int) string {
	args := []string{name}
	for i := range places {
		of := takes.In(min(i, takes.NumIn()-1))
		if takes.IsVariadic() && i >= takes.NumIn()-1 {
			of = of.Elem()
		}
		arg := "$c"
		if i != place && place >= 0 {
			arg = map[reflect.Kind]string{
				reflect.String: `"a"`, reflect.Map: `(dict "a" 1)`, reflect.Slice: "(list 1)", reflect.Struct: "now",
				reflect.Bool: "true", reflect.Interface: `"1"`,
			}[of.Kind()]
			if arg == "" {
				arg = "1"
			}
		} else if of.Kind() == reflect.Slice {
			arg = "(list $c)"
		}
		args = append(args, arg)
	}
	return "(" + strings.Join(args, " ") + ")"
}
