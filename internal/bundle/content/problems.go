package content

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/berthdev/berth/internal/fault"
)

// Problems collect the entries that content cannot have, so that they are reported
// together.
type Problems []*fault.Error

const maxProblems = 20

// Add takes the error of an entry. It is false for any other error, which ends the
// reading, and where there are enough.
func (p *Problems) Add(err error) bool {
	if fault.ReasonOf(err) != ReasonRefused || len(*p) == maxProblems {
		return false
	}
	*p = append(*p, fault.From(err))
	return true
}

// Or is the error of all that was added; if there is none, that of the rest.
func (p *Problems) Or(rest error) error {
	switch len(*p) {
	case 0:
		return rest
	case 1:
		return (*p)[0]
	}
	joint := fault.New(fault.InvalidArgument, "%d entries cannot be in a bundle, the first is %w", len(*p), (*p)[0]).
		WithReason(ReasonRefused).WithHint("%s", (*p)[0].Hint)
	for _, problem := range *p {
		joint.Problems = append(joint.Problems, problem.Message)
	}
	return joint
}

const gzipMagic = "\x1f\x8b"

// unknown recognizes archives that are not read.
func unknown(in *bufio.Reader) error {
	for _, format := range []struct{ magic, name string }{
		{"PK\x03\x04", "a zip file"},
		{"\xfd7zXZ\x00", "compressed with xz"},
		{"BZh", "compressed with bzip2"},
		{"\x28\xb5\x2f\xfd", "compressed with zstd"},
	} {
		if start, _ := in.Peek(len(format.magic)); bytes.Equal(start, []byte(format.magic)) {
			return fault.New(fault.InvalidArgument, "the archive is %s, which is not supported", format.name).
				WithHint("pack it as a tar file, with gzip or without: tar -czf bundle.tgz -C DIRECTORY .")
		}
	}
	// A header of a tar file, or the beginning of one, has zeros behind the name.
	if start, err := in.Peek(tarBlock); errors.Is(err, io.EOF) && !bytes.Contains(start, []byte{0}) {
		return notTar()
	}
	return nil
}

const tarBlock = 512 // bytes

func notTar() error {
	return fault.New(fault.InvalidArgument, "this is not a tar file, with gzip or without").
		WithHint("pack the bundle: tar -czf bundle.tgz -C DIRECTORY .")
}
