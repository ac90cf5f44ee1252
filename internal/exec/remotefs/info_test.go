package remotefs

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Names get the attributes that come in their order; what has none has gone since.
func TestParseList(t *testing.T) {
	all, err := parseList([]string{"./a b", "./gone", "./c\nd"},
		[]byte("81a4 5 0 0 1 2 ./a b\n41ed 0 1 1 3 4 ./c\nd\n"))
	var names []string
	for _, i := range all {
		names = append(names, i.Name())
	}
	if strings.Join(names, ",") != "a b,c\nd" || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	for _, bad := range []string{"..", "./../x", ""} {
		if all, err := parseList([]string{bad}, []byte("81a4 5 0 0 1 2 "+bad+"\n")); err == nil {
			t.Errorf("%q: %v", bad, all)
		}
	}
}

// Attributes that never end are read once, and not again for each name: that would take longer than tests may.
func TestEndlessAttributes(t *testing.T) {
	names := slices.Repeat([]string{"a"}, 1<<20)
	if all, err := parseList(names, bytes.Repeat([]byte("x"), 8<<20)); len(all) > 0 || err != nil {
		t.Errorf("%d names, %v", len(all), err)
	}
}
