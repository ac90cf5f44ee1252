// Package manifest reads what others wrote as Kubernetes objects: text of YAML or JSON, with
// several documents and with lists, within limits that a hostile one cannot exceed, and with
// the place of every problem.
package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// The limits of everything that one Reader reads. Objects take some ten times the memory of
// their text, and a pass over an instance has them as they are to be, as they were and as
// the cluster has them: that has to fit into the pod of a server.
const (
	MaxBytes   = 12 << 20  // as written, and with aliases expanded
	maxMarks   = 1_500_000 // characters that can begin a value
	MaxObjects = 10_000
)

// Reader collects the objects of files, and everything that is wrong with them.
type Reader struct {
	// Namespace is that of objects which name none: it tells whether two are the same.
	Namespace string
	// Repeats warns of a key that a mapping has twice. The last one counts, as for kubectl.
	Repeats bool
	// Fits makes objects of Kubernetes' own kinds ones that the API server takes at each update, and warns of what
	// goes; what cannot be one is a problem.
	Fits bool
	// Newer says that the cluster is newer than this program: it may have fields that are not known here.
	Newer bool
	// Several says whether an object may be there more than once; nil is never.
	Several func(*unstructured.Unstructured) bool
	// Unchecked takes objects as they are written, whatever their fields.
	Unchecked bool

	file         string
	bytes, marks int
	full         bool
	places       map[identity]string
	types        types
	objects      []*unstructured.Unstructured
	files        []string
	problems     []string
	warnings     []string
	unknown      []Unknown
}

// identity is what makes two objects one for the API server.
type identity struct{ group, kind, namespace, name string }

// Read adds the objects of a text; its problems have the name of the file.
func (r *Reader) Read(file string, text []byte) { r.ReadPart(file, 0, text) }

// ReadPart is Read of a part of a file, which has a number of lines in front of it.
func (r *Reader) ReadPart(file string, lines int, text []byte) {
	if r.full {
		return
	}
	r.file = file
	switch {
	case !r.take(len(text), yamldoc.Marks(text)):
	case !utf8.Valid(text):
		r.problem(0, "not UTF-8 text")
	default:
		for before, document := range yamldoc.Documents(text) {
			for _, v := range r.parse(lines+before, document) {
				r.add(v.line, v.content, "")
			}
			if r.full {
				return
			}
		}
	}
}

// take counts what there is of a text, and what its aliases add to it; false if it is too
// much.
func (r *Reader) take(bytes, marks int) bool {
	r.bytes += max(0, bytes)
	r.marks += marks
	switch {
	case r.bytes > MaxBytes:
		r.stop("the manifests are larger than %d MiB", MaxBytes>>20)
	case r.marks > maxMarks:
		r.stop("the manifests have too many values")
	default:
		return true
	}
	return false
}

// Add adds an object that was made of what is in a file.
func (r *Reader) Add(file string, fields map[string]any) {
	r.file = file
	r.add(0, fields, "")
}

// Problem adds what is wrong with a file besides its objects; line 0 is the whole file.
func (r *Reader) Problem(file string, line int, format string, args ...any) {
	r.file = file
	r.problem(line, format, args...)
}

// Objects are those that were read, in their order, and the name of the file of each.
func (r *Reader) Objects() (objects []*unstructured.Unstructured, files []string) {
	return r.objects, r.files
}

// Problems are everything that is wrong, in the order of reading; empty if nothing is.
func (r *Reader) Problems() []string { return slices.Clip(r.problems) }

// Warnings are what should be mended, though it is no error.
func (r *Reader) Warnings() []string { return slices.Clip(r.warnings) }

// warn adds a warning about the file that is being read.
func (r *Reader) warn(line int, text string) {
	if len(r.warnings) < yamldoc.MaxProblems {
		r.warnings = append(r.warnings, fault.Line(r.place(line)+": "+text))
	}
}

// problem adds a problem of the file that is being read.
func (r *Reader) problem(line int, format string, args ...any) {
	if r.full {
		return
	}
	if len(r.problems) == yamldoc.MaxProblems {
		r.problems, r.full = append(r.problems,
			fmt.Sprintf("more than %d problems: nothing further was read", yamldoc.MaxProblems)), true
		return
	}
	r.problems = append(r.problems, fault.Line(r.place(line)+": "+fmt.Sprintf(format, args...)))
}

// place is a line of the file that is being read; 0 is the whole file.
func (r *Reader) place(line int) string {
	if line == 0 {
		return r.file
	}
	return fmt.Sprintf("%s:%d", r.file, line)
}

// stop ends the reading: what follows is not looked at.
func (r *Reader) stop(format string, args ...any) {
	r.problem(0, format, args...)
	r.full = true
}

// add adds a value as an object, or the objects of a list. Parent is the kind that the items
// of a list of one kind have if they name none.
func (r *Reader) add(line int, content any, parent string) {
	fields, ok := content.(map[string]any)
	switch {
	case r.full, content == nil:
		return
	case !ok:
		r.problem(line, "must be an object, is %s", describe(content))
		return
	}
	object := &unstructured.Unstructured{Object: fields}
	if parent != "" && fields["kind"] == nil && fields["apiVersion"] == nil {
		object.SetGroupVersionKind(parentKind(parent))
	}
	if items, kind, isList := list(fields); isList {
		for _, item := range items {
			r.add(line, item, kind)
		}
		return
	}
	var problems []string
	if !r.Unchecked {
		problems = check(fields)
	}
	for _, problem := range problems {
		r.problem(line, "%s%s", label(object), problem)
	}
	if len(problems) > 0 {
		return
	}
	if len(r.objects) == MaxObjects {
		r.stop("more than %d objects", MaxObjects)
		return
	}
	if r.Fits {
		if r.types == nil {
			r.types = types{}
		}
		dropped, refused, unknown := fit(object, r.Newer, r.types)
		if len(unknown) > 0 {
			r.unknown = append(r.unknown, Unknown{
				Object: object,
				Reason: "the cluster is newer than berth, which does not know the fields " +
					strings.Join(unknown, ", "),
			})
		}
		for _, text := range dropped {
			r.warn(line, label(object)+text)
		}
		for _, text := range refused {
			r.problem(line, "%s%s", label(object), text)
		}
	}
	r.keep(line, object)
}

func (r *Reader) identityOf(object *unstructured.Unstructured) identity {
	gvk := object.GroupVersionKind()
	return identity{gvk.Group, gvk.Kind, cmp.Or(object.GetNamespace(), r.Namespace), object.GetName()}
}

func (r *Reader) keep(line int, object *unstructured.Unstructured) {
	id := r.identityOf(object)
	first, twice := r.places[id]
	if twice && !r.Unchecked && (r.Several == nil || !r.Several(object)) {
		r.problem(line, "%sdefined twice (first at %s)", label(object), first)
		return
	}
	if r.places == nil {
		r.places = map[identity]string{}
	}
	r.places[id] = r.place(line)
	r.objects = append(r.objects, object)
	r.files = append(r.files, r.file)
}
