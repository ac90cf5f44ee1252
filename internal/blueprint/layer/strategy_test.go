package layer

import "testing"

func TestStrategiesByPath(t *testing.T) {
	s := Strategies{
		Exact: map[string]Strategy{"a.b.c": {Key: "exact"}},
		Suffix: map[string]Strategy{
			"b.c": {Key: "long suffix"}, "x.b.c": {Key: "longer suffix"},
			"c": {Key: "short suffix"},
		},
		Key: map[string]Strategy{"c": {Key: "bare"}, "d": {Key: "bare"}},
	}
	for path, want := range map[string]string{
		"a.b.c":     "exact",
		"z.b.c":     "long suffix",
		"z.x.b.c":   "longer suffix",
		"a.b.z.c":   "short suffix",
		"c":         "bare", // a suffix is a part of the path, not all of it
		"a.d":       "bare",
		"d":         "bare",
		"a.b":       "",
		"a.bb.cc":   "",
		"a.b.c.e":   "",
		"za.b.c.zd": "",
	} {
		if got := s.find(path).Key; got != want {
			t.Errorf("%s has strategy %q, want %q", path, got, want)
		}
	}
}
