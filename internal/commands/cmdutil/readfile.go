package cmdutil

import (
	"io"
	"os"

	"github.com/berthdev/berth/internal/fault"
)

// ReadFile reads a file that a flag names, or standard input for -, of so many bytes at
// most.
func ReadFile(path string, stdin io.Reader, most int64, flag string) ([]byte, error) {
	name, source := "standard input", stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "cannot read the file of %s: %w", flag, err)
		}
		defer file.Close()
		name, source = path, file
	}
	content, err := io.ReadAll(io.LimitReader(source, most+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "cannot read the file of %s: %s: %w", flag, name, err)
	case int64(len(content)) > most:
		return nil, fault.New(fault.InvalidArgument, "the file of %s is too large: %s has more than %d bytes", flag, name, most)
	}
	return content, nil
}
