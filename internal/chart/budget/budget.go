// Package budget counts what the rendering of one chart holds and makes, in bytes of memory
// and in steps of work, before any of it is there: Go can neither take memory back from a
// function that runs, nor end it.
package budget

import (
	"fmt"
	"math"
)

// Limit is the memory of one rendering, in bytes. The garbage collector and what others do
// in the process come on top; together they have to stay below the 512 MiB of a server's pod.
const Limit = 160 << 20

// MaxText is the longest text that a function or a template gives, in bytes.
const MaxText = 16 << 20

// MaxSteps is the work of one call, where that is more than its arguments are long: some
// seconds, since nothing ends it.
const MaxSteps = 1 << 27

// LimitError is the error of a limit that is reached. It does not pass: the chart is refused.
type LimitError string

func (e LimitError) Error() string { return string(e) }

// Budget is that of one rendering, and of one goroutine.
type Budget struct {
	limit float64
	// base is held until the end: the chart, its values, its parsed templates, and what its
	// templates have written. Made is what the present template has made; it is not given back
	// when it is dropped, since nobody knows when that is. Passing ends with a call.
	base, made, passing float64
	exceeded            bool
}

// New is a budget of so many bytes.
func New(limit int64) *Budget { return &Budget{limit: float64(limit)} }

// Unlimited is the budget of a chart that is known to take little.
func Unlimited() *Budget { return &Budget{limit: math.Inf(1)} }

// Left are the bytes that are not spent.
func (b *Budget) Left() float64 { return b.limit - b.base - b.made - b.passing }

// Exceeded says whether anything was refused: with a larger budget it may be taken.
func (b *Budget) Exceeded() bool { return b.exceeded }

// Hold charges what stays until the rendering ends.
func (b *Budget) Hold(what string, bytes float64) error {
	if err := b.check(what, bytes); err != nil {
		return err
	}
	b.base += bytes
	return nil
}

// Make charges what may be dropped when the template ends that makes it; see Settle.
func (b *Budget) Make(what string, bytes float64) error {
	if err := b.check(what, bytes); err != nil {
		return err
	}
	b.made += bytes
	return nil
}

// Pass charges what is dropped when done is called.
func (b *Budget) Pass(what string, bytes float64) (done func(), err error) {
	if err := b.check(what, bytes); err != nil {
		return nil, err
	}
	b.passing += bytes
	return func() { b.passing -= bytes }, nil
}

func (b *Budget) check(what string, bytes float64) error {
	if bytes <= b.Left() { // false for what is not a number, too
		return nil
	}
	b.exceeded = true
	return LimitError(fmt.Sprintf("%s: makes too much: a chart may take %d MiB of memory", what, int64(b.limit)>>20))
}

// settleAbove is what a template makes before it is worth looking at what is left of it.
const settleAbove = 4 << 20

// Settle is called between two templates: all that the last one has made is gone but for what
// can be reached from these values, which is counted. They replace what Settle has counted
// before.
func (b *Budget) Settle(values ...any) {
	if b.made > settleAbove {
		b.made = Held(values...)
	}
}
