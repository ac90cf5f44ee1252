package chart

import (
	"errors"
	"strings"

	"github.com/berthdev/berth/internal/bundle/chart/budget"
	"github.com/berthdev/berth/internal/fault"
)

// maxProblem is the longest text of an error, in bytes: it may quote a value.
const maxProblem = 16 << 10

// shortError is an error whose text is too long. Each template that includes others would write
// all of it again.
type shortError struct {
	text  string
	cause error
}

func (e shortError) Error() string { return e.text }
func (e shortError) Unwrap() error { return e.cause }

// shortened is an error with a text of bounded length, and with what explain looks for.
func shortened(err error) error {
	if err == nil || len(err.Error()) <= maxProblem {
		return err
	}
	short := shortError{text: fault.Shorten(err.Error(), maxProblem)}
	if said, ok := errors.AsType[messageError](err); ok {
		short.cause = messageError(fault.Shorten(string(said), maxProblem))
	} else if limit, ok := errors.AsType[budget.LimitError](err); ok {
		short.cause = limit
	} else if late, ok := errors.AsType[timeError](err); ok {
		short.cause = late
	}
	return short
}

// explain is an error of a template, with its place. What a chart itself says, by required
// and fail, stands for itself, and so does a limit.
func explain(err error) string {
	text := fault.Shorten(strings.TrimPrefix(err.Error(), "template: "), maxProblem)
	var cause string
	if said, ok := errors.AsType[messageError](err); ok {
		cause = fault.Shorten(string(said), maxProblem)
	} else if limit, ok := errors.AsType[budget.LimitError](err); ok {
		cause = string(limit)
	} else if late, ok := errors.AsType[timeError](err); ok {
		cause = late.Error()
	} else {
		return text
	}
	place, rest, ok := strings.Cut(text, ": ")
	if strings.HasPrefix(place, ownName+":") {
		_, rest, _ = strings.Cut(rest, `"`)
		place, _, _ = strings.Cut(rest, `"`)
	}
	if !ok {
		return cause
	}
	return place + ": " + cause
}
