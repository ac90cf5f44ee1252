package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

const (
	maxIndex   = 50 << 20 // bytes
	maxEntries = 20_000   // versions of a chart
)

// entry is a version of a chart in the index of a repository.
type entry struct {
	Version string   `json:"version" yaml:"version"`
	URLs    []string `json:"urls" yaml:"urls"`
	Digest  string   `json:"digest" yaml:"digest"`
}

// readIndex finds the versions of a chart in an index. An index has the versions of all charts of a repository, often
// tens of megabytes: it is read line by line, and of it no more than one version of one chart is parsed at a time.
func readIndex(r io.Reader, chart string) ([]entry, error) {
	limited := &io.LimitedReader{R: r, N: maxIndex + 1}
	in := bufio.NewReader(limited)
	found := indexReader{chart: chart}
	var err error
	if first, _ := in.Peek(1); string(first) == "{" {
		err = found.json(json.NewDecoder(in))
	} else {
		err = found.yaml(in)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	switch {
	case limited.N == 0:
		return nil, badIndex("it is larger than %d MiB", maxIndex>>20)
	case err != nil:
		return nil, err
	}
	return found.entries, nil
}

func badIndex(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidArgument, "the index of the repository cannot be read: "+format, args...).
		WithHint("tell its maintainers; `helm repo index` writes one")
}

type indexReader struct {
	chart   string
	named   bool // the chart, in a part that has been read
	entries []entry
}

// begin is where the versions of a chart begin, of which there is one list.
func (x *indexReader) begin() error {
	if x.named {
		return badIndex("it names the chart %q twice", x.chart)
	}
	x.named = true
	return nil
}

func (x *indexReader) add(e entry) error {
	if len(x.entries) == maxEntries {
		return badIndex("it has more than %d versions of the chart %q", maxEntries, x.chart)
	}
	x.entries = append(x.entries, e)
	return nil
}

// json reads an index that is JSON, which is YAML, too.
func (x *indexReader) json(d *json.Decoder) error {
	err := members(d, func(key string) error {
		if key != "entries" {
			return skip(d)
		}
		return members(d, func(key string) error {
			if key != x.chart {
				return skip(d)
			}
			if err := x.begin(); err != nil {
				return err
			}
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return errors.Join(err, errors.New("the versions of the chart are no list"))
			}
			for d.More() {
				var e entry
				if err := d.Decode(&e); err != nil {
					return err
				}
				if err := x.add(e); err != nil {
					return err
				}
			}
			_, err := d.Token()
			return err
		})
	})
	if _, own := errors.AsType[*fault.Error](err); own || err == nil {
		return err
	}
	return badIndex("%w", err)
}

// members calls each for every key of an object; it reads the value.
func members(d *json.Decoder, each func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errors.New("not an object"))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := each(key.(string)); err != nil { //nolint:forcetypeassert // a key is a string
			return err
		}
	}
	_, err := d.Token()
	return err
}

// skip passes over a value without holding it.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// yaml reads an index as it is written by all programs that are known to write one: entries, the charts and their
// versions are in block style. Whatever is in them is further to the right than they are.
func (x *indexReader) yaml(in *bufio.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, yamldoc.MaxFile)
	at := block{indexReader: x, of: -1, item: -1}
	for lines.Scan() {
		if err := at.line(bytes.TrimRight(lines.Bytes(), " \t\r")); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return badIndex("it has a line of more than %d MiB", yamldoc.MaxFile>>20)
	case err != nil:
		return err
	case !at.entries:
		return badIndex("it has no entries")
	}
	return at.end()
}

// block is where the reader is in an index in block style.
type block struct {
	*indexReader
	entries, within bool   // entries were seen; the line is in them
	of, item        int    // indentation of charts, and of the versions of this one; -1 before the first
	mine            bool   // the line is of the chart
	text            []byte // of a version
}

func (b *block) line(line []byte) error {
	body := bytes.TrimLeft(line, " ")
	indent := len(line) - len(body)
	blank := len(body) == 0 || body[0] == '#'
	switch {
	case indent == 0 && !blank:
		return b.top(keyOf(body))
	case !b.within || blank && !b.mine:
		return nil
	case !blank && (b.of < 0 || indent == b.of && body[0] != '-'):
		b.of = indent
		return b.chartKey(keyOf(body))
	case !b.mine:
		return nil
	case !blank && (b.item < 0 || indent == b.item) && body[0] == '-':
		b.item = indent
		if err := b.end(); err != nil {
			return err
		}
	}
	if len(b.text)+len(line) > yamldoc.MaxFile {
		return badIndex("a version of the chart %q has more than %d MiB", b.chart, yamldoc.MaxFile>>20)
	}
	b.text = append(append(b.text, line...), '\n')
	return nil
}

// top is a key of the index.
func (b *block) top(key, rest string) error {
	if key == "entries" && b.entries {
		return badIndex("it has entries twice")
	}
	b.within, b.mine = key == "entries", false
	b.entries = b.entries || b.within
	if b.within && rest != "" && rest != "{}" {
		return badIndex("its entries are not in block style")
	}
	return b.end()
}

// chartKey is a key of the entries.
func (b *block) chartKey(key, rest string) error {
	if err := b.end(); err != nil {
		return err
	}
	b.mine, b.item = key == b.chart, -1
	if b.mine && rest != "" && rest != "[]" {
		return badIndex("the versions of the chart %q are not in block style", b.chart)
	}
	if b.mine {
		return b.begin()
	}
	return nil
}

// end is where a version ends, if one has begun.
func (b *block) end() (err error) {
	b.text, err = b.version(b.text)
	return err
}

// keyOf is the key of a line, and what follows its colon.
func keyOf(line []byte) (key, rest string) {
	key, rest, _ = strings.Cut(string(line), ":")
	rest, _, _ = strings.Cut(rest, " #")
	return strings.Trim(key, `'" `), strings.TrimSpace(rest)
}

// version parses the text of one version, a list of one; the buffer is used again.
func (x *indexReader) version(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text[:0], nil
	}
	top, problems := yamldoc.Read("index.yaml", text)
	if len(problems) > 0 {
		return nil, badIndex("a version of the chart %q: %s", x.chart, problems[0].Message)
	}
	var some []entry
	if top == nil {
		return text[:0], nil
	}
	if err := yamldoc.Expand(top).Decode(&some); err != nil {
		return nil, badIndex("a version of the chart %q: %w", x.chart, err)
	}
	for _, e := range some {
		if err := x.add(e); err != nil {
			return nil, err
		}
	}
	return text[:0], nil
}
