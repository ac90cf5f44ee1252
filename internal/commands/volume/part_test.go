package volume

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/nodes"
	"github.com/berthdev/berth/internal/volume/read"
)

// The flags name a part of a file; anything else is refused.
func TestPartOf(t *testing.T) {
	for _, c := range []struct {
		from   bool
		offset int64
		last   bool
		tail   int64
		span   string
		want   read.Span
		fails  bool
	}{
		{},
		{from: true},
		{from: true, offset: 5, want: "5-"},
		{last: true, tail: 7, want: "-7"},
		{span: "0-0", want: "0-0"},
		{span: "3-9", want: "3-9"},
		{from: true, offset: -1, fails: true},
		{last: true, fails: true},
		{last: true, tail: -3, fails: true},
		{span: "9-3", fails: true},
		{span: "3", fails: true},
		{span: "-3", fails: true},
		{span: "3-", fails: true},
		{span: "a-b", fails: true},
		{span: "0-99999999999999999999", fails: true},
	} {
		got, err := partOf(c.from, c.offset, c.last, c.tail, c.span)
		if got != c.want || (fault.CodeOf(err) == fault.InvalidArgument) != c.fails {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Of several drivers the one that has the volume counts, and then what says most about why none has.
func TestLocated(t *testing.T) {
	missing := fault.New(fault.NotFound, "not on this node")
	removed := fault.New(fault.NotFound, "removed").WithReason(volume.ReasonRemoved)
	down := fault.New(fault.Unavailable, "down")
	for name, c := range map[string]struct {
		errs []error
		want error
	}{
		"the second":   {[]error{missing, nil, down}, nil},
		"removed":      {[]error{missing, removed, down}, removed},
		"one is down":  {[]error{missing, down}, down},
		"down, first":  {[]error{down, missing}, down},
		"it is no one": {[]error{missing, missing}, missing},
	} {
		var all []heard
		for _, err := range c.errs {
			all = append(all, heard{answer: nodes.Answer{Err: err}})
		}
		if _, err := located(all, "team", "v"); err != c.want { //nolint:errorlint // that one
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
