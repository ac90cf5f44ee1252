// Package dump reads what people have written down of a cluster, in whatever form they
// have it: what kubectl prints as YAML or JSON, lists and single objects, changes of a
// watch, in files, directories and archives. Nothing says who has written them: what is
// read has limits, and what is broken does not keep the rest from being read.
package dump

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Contents are what a dump has.
type Contents struct {
	Records []watch.Record
	// Recorded is true for a history: each record has the time at which it was said.
	// Of anything else only the last state is known.
	Recorded bool
	// Logs are the last lines of the logs of containers.
	Logs map[Instance][]string
	// Skipped is what was not read, each with its place and the reason.
	Skipped []string
	// CutOff is true for a file that has no end: what it would say further is not known.
	CutOff bool
}

// Hint says how a dump is made.
const Hint = "save a dump with `kubectl get pods,events,pvc,deployments,replicasets,statefulsets,daemonsets,jobs -o " +
	"yaml`, " +
	"or all of a namespace with `kubectl cluster-info dump`"

// Read reads a dump, which may be packed. The name is for messages.
func Read(in io.Reader, name string) (Contents, error) {
	r := &reader{limits: defaults()}
	r.stream(source{file: name, in: in})
	return r.contents(name)
}

// reader collects what is in the files of a dump.
type reader struct {
	limits   limits
	used     used
	exceeded *fault.Error // a limit of the whole: nothing further is read

	records        []watch.Record
	timed, untimed int // records with a time of their own, and without

	logs     map[Instance][]string
	cutOff   bool
	problems []yamldoc.Problem
	others   []string // files that are something else
}

// problem adds what is wrong with a file; line 0 is the whole file.
func (r *reader) problem(file string, line int, format string, args ...any) {
	r.problems = append(r.problems,
		yamldoc.Problem{File: file, Line: line, Message: fault.Line(fmt.Sprintf(format, args...))})
}

func (r *reader) add(record watch.Record) {
	if _, err := meta.Accessor(record.Object); err != nil {
		return // of a kind of the API that is no object, as DeleteOptions
	}
	r.used.objects++
	if r.used.objects > r.limits.objects {
		r.exceed("%d objects", r.limits.objects)
		return
	}
	if record.At.IsZero() {
		r.untimed++
	} else {
		r.timed++
	}
	r.records = append(r.records, record)
}

// contents are what was read. It is an error if that is nothing for a reason.
func (r *reader) contents(name string) (Contents, error) {
	if r.exceeded != nil {
		return Contents{}, r.exceeded
	}
	skipped := r.skipped()
	if len(r.records) == 0 && len(skipped) > 0 {
		return Contents{}, unreadable(name, skipped)
	}
	c := Contents{
		Records: r.records, Recorded: r.timed > 0 && r.untimed == 0, Logs: r.logs, Skipped: skipped, CutOff: r.cutOff,
	}
	if c.Recorded { // by several, perhaps
		slices.SortStableFunc(c.Records, func(a, b watch.Record) int { return a.At.Compare(b.At) })
	}
	return c, nil
}

// unreadable is the error of a dump in which nothing is left but what was skipped.
func unreadable(name string, skipped []string) *fault.Error {
	if len(skipped) == 1 {
		return fault.New(fault.InvalidArgument, "%s", skipped[0]).WithHint("%s", Hint)
	}
	err := fault.New(fault.InvalidArgument, "nothing in %s can be read", name).WithHint("%s", Hint)
	err.Problems = skipped
	return err
}

// skipped lists the problems, and beyond them the files that are something else: a large dump has many.
func (r *reader) skipped() []string {
	list := yamldoc.Report(r.problems, nil)
	for i := range list {
		list[i] = fault.Line(list[i]) // the name of a file in an archive can be anything
	}
	const most = 3
	names, more := strings.Join(r.others[:min(most, len(r.others))], ", "), ""
	if len(r.others) > most {
		more = ", …"
	}
	switch n := len(r.others); n {
	case 0:
	case 1:
		list = append(list, fault.Line(names)+": "+string(formOther))
	default:
		list = append(list, fmt.Sprintf("%d files: %s: %s%s", n, formOther, fault.Line(names), more))
	}
	return list
}

// Newest is the newest time in the objects of a dump: it was made then, or later. It is
// zero if there is none. All of them count: what has nothing to do with a subject tells
// for how long that has been silent.
func (c Contents) Newest() time.Time {
	var newest time.Time
	for _, r := range c.Records {
		o, err := meta.Accessor(r.Object)
		if err != nil {
			continue
		}
		newest = evidence.Later(newest, newestIn(reflect.ValueOf(r.Object)))
		if gone := o.GetDeletionTimestamp(); gone != nil {
			grace := time.Duration(ptr.Deref(o.GetDeletionGracePeriodSeconds(), 0)) * time.Second
			newest = evidence.Later(newest, gone.Add(-grace))
		}
	}
	return newest
}

// newestIn looks at every time in a value, but when an object is to be gone: that may lie
// ahead.
func newestIn(v reflect.Value) (newest time.Time) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return newestIn(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return newest
		}
		for i := range v.Len() {
			newest = evidence.Later(newest, newestIn(v.Index(i)))
		}
	case reflect.Struct:
		switch t := v.Interface().(type) {
		case metav1.Time:
			return t.Time
		case metav1.MicroTime:
			return t.Time
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Name != "DeletionTimestamp" {
				newest = evidence.Later(newest, newestIn(v.Field(i)))
			}
		}
	}
	return newest
}
