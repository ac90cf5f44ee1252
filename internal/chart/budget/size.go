package budget

import (
	"reflect"
)

// The limits of values that are read with all that is in them.
const (
	maxWeight  = 64 << 20 // bytes
	maxDepth   = 1000
	nodeWeight = 128 // bytes that a value counts beside its text
)

// Size is that of values with all that is in them, each counted as often as it is there:
// so it is when they are printed.
type Size struct {
	Nodes, Text float64
	// Bytes are those of texts that are lists of bytes, each of which may be printed by itself.
	Bytes float64
	// Indent is the depth of all nodes together, and Path the text of all keys on the way to
	// each node: formats repeat them.
	Indent, Path float64
}

// measurer measures within a limit.
type measurer struct {
	size Size
	left int
}

// Measure refuses a value that is very large, or is in itself.
func Measure(values ...reflect.Value) (Size, error) {
	m := measurer{left: maxWeight}
	for _, v := range values {
		if !m.value(v, 0, 0) {
			return m.size, LimitError("a value is too large")
		}
	}
	return m.size, nil
}

// value says whether there is room for a value.
func (m *measurer) value(v reflect.Value, depth, path int) bool {
	if m.left -= nodeWeight; m.left < 0 || depth > maxDepth {
		return false
	}
	if kind := v.Kind(); kind == reflect.Interface || kind == reflect.Pointer {
		return v.IsNil() || m.value(v.Elem(), depth+1, path)
	}
	m.size.Nodes++
	m.size.Indent += float64(depth)
	m.size.Path += float64(path)
	switch v.Kind() {
	case reflect.String:
		m.size.Text += float64(v.Len())
		m.left -= v.Len()
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			m.size.Text += float64(v.Len())
			m.size.Bytes += float64(v.Len())
			m.left -= v.Len()
			return m.left >= 0
		}
		for i := range v.Len() {
			if !m.value(v.Index(i), depth+1, path) {
				return false
			}
		}
	case reflect.Map:
		return m.entries(v, depth, path)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !m.value(field, depth+1, path) {
				return false
			}
		}
	}
	return m.left >= 0
}

// entries says whether there is room for those of a map.
func (m *measurer) entries(v reflect.Value, depth, path int) bool {
	for entries := v.MapRange(); entries.Next(); {
		below := path + 1
		if key := entries.Key(); key.Kind() == reflect.String {
			below += key.Len()
		}
		if !m.value(entries.Key(), depth+1, path) || !m.value(entries.Value(), depth+1, below) {
			return false
		}
	}
	return m.left >= 0
}

// The bytes that values take in memory on 64 bits.
const (
	word      = 8
	ofString  = 2 * word             // and its text
	ofAny     = 2 * word             // and what is in it
	ofItem    = ofAny + ofString     // of a list
	ofEntry   = 2 * (ofAny + ofItem) // of a map, which is half empty after it has grown
	ofMap     = 48 + 8*(ofString+ofAny) + word
	ofSlice   = 3 * word
	ofBoolean = word
)

// Held is the memory of values, each counted once however often it is referred to.
func Held(values ...any) float64 {
	h := holder{seen: map[reference]bool{}}
	for _, v := range values {
		h.add(reflect.ValueOf(v))
	}
	for len(h.rest) > 0 {
		last := len(h.rest) - 1
		v := h.rest[last]
		h.rest = h.rest[:last]
		h.value(v)
	}
	return h.bytes
}

// reference is a map, a slice or what a pointer points to.
type reference struct {
	at  uintptr
	len int
}

type holder struct {
	bytes float64
	seen  map[reference]bool
	rest  []reflect.Value // a list in lists may be deeper than a stack
}

// first says whether something is met for the first time.
func (h *holder) first(v reflect.Value, size int) bool {
	r := reference{v.Pointer(), size}
	if h.seen[r] {
		return false
	}
	h.seen[r] = true
	return true
}

// add notes a value to be looked at.
func (h *holder) add(v reflect.Value) { h.rest = append(h.rest, v) }

func (h *holder) value(v reflect.Value) {
	h.bytes += ofBoolean
	switch v.Kind() {
	case reflect.Interface:
		h.bytes += word
		h.add(v.Elem())
	case reflect.Pointer:
		if !v.IsNil() && h.first(v, -1) {
			h.add(v.Elem())
		}
	case reflect.String:
		h.bytes += ofString + float64(v.Len())
	case reflect.Slice:
		h.slice(v)
	case reflect.Map:
		if !v.IsNil() && h.first(v, -2) {
			h.bytes += ofMap
			for entries := v.MapRange(); entries.Next(); {
				h.bytes += ofEntry - 2*ofAny
				h.add(entries.Key())
				h.add(entries.Value())
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			h.add(field)
		}
	}
}

func (h *holder) slice(v reflect.Value) {
	h.bytes += ofSlice
	if v.Len() == 0 || !h.first(v, v.Len()) {
		return
	}
	h.bytes += float64(v.Cap()-v.Len()) * float64(v.Type().Elem().Size())
	switch v.Type().Elem().Kind() {
	case reflect.Interface, reflect.String, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Struct:
		for i := range v.Len() {
			h.add(v.Index(i))
		}
	default:
		h.bytes += float64(v.Len()) * float64(v.Type().Elem().Size())
	}
}
