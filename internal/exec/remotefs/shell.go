// Package remotefs reads and writes the files of a place where commands can be run, over SFTP, with nothing in the
// place but a shell and the tools that every image has. See files.sh for what it asks of them.
package remotefs

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/berthdev/berth/internal/exec"
)

//go:embed files.sh
var script string

// shell is the one that answers, a command at a time.
type shell struct {
	run  exec.Runner
	home string
	mark string // every call begins with it

	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
	err error // after which it cannot be asked any more
}

// ask sends a call, with content after its line, and lets the answer be read after its first line, of which it gets the
// words behind "ok".
func (s *shell) ask(content []byte, read func(words []string, r *bufio.Reader) error, function string,
	args ...string,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	message := append([]byte(s.mark+" "+call(function, args)), content...)
	sent := make(chan error, 1)
	go func() { // the answer may come before all is taken
		_, err := s.in.Write(message)
		sent <- err
	}()
	answer, err := s.answer(read)
	if err != nil {
		s.err = fmt.Errorf("the files of the workspace cannot be reached any more: %w", err)
		return s.err
	}
	if err := <-sent; err != nil {
		s.err = err
		return err
	}
	return answer
}

// answer reads one answer. The error err is that of the connection.
func (s *shell) answer(read func([]string, *bufio.Reader) error) (answer, err error) {
	line, err := readUntil(s.out, '\n', maxLine)
	if err != nil {
		return nil, notEnd(err)
	}
	switch words := strings.Fields(line); {
	case len(words) > 0 && words[0] == "ok":
		if read != nil {
			err = notEnd(read(words[1:], s.out))
		}
		return nil, err
	case len(words) == 2 && words[0] == "no":
		return errno(words[1]), nil
	}
	return nil, fmt.Errorf("an answer that is not understood: %.100q", line)
}

// notEnd is an error of reading; an end within an answer is not expected.
func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// errno is the error that a code of the script stands for.
func errno(code string) error {
	switch code {
	case "ENOENT":
		return fs.ErrNotExist
	case "EACCES":
		return syscall.EACCES // which the library knows, other than fs.ErrPermission
	case "EPERM":
		return syscall.EPERM
	case "EEXIST":
		return syscall.EEXIST
	case "ENOTDIR":
		return syscall.ENOTDIR
	case "EISDIR":
		return syscall.EISDIR
	case "ENOTEMPTY":
		return syscall.ENOTEMPTY
	case "EINVAL":
		return syscall.EINVAL
	case "ENOSPC":
		return syscall.ENOSPC
	}
	return syscall.EIO
}

// call is one line: names may have any bytes but NUL, newlines included.
func call(function string, args []string) string {
	var before, line strings.Builder
	line.WriteString(function)
	for i, arg := range args {
		if strings.Contains(arg, "\n") {
			name := "arg" + strconv.Itoa(i)
			before.WriteString("u " + quote(escape(arg)) + "; " + name + "=$u; ")
			line.WriteString(` "$` + name + `"`)
		} else {
			line.WriteString(" " + quote(arg))
		}
	}
	return before.String() + line.String() + "\n"
}

// quote is a word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// escape writes what printf's %b reads.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\0134`, "\n", `\0012`).Replace(s)
}

// What a workspace may answer, in bytes: it can say anything, and for ever.
const (
	maxLine = 4 << 10  // the first line of an answer
	maxPath = 64 << 10 // a name, or where a link leads
)

// readUntil reads what ends with a byte, without that.
func readUntil(r *bufio.Reader, end byte, most int) (string, error) {
	var text []byte
	for {
		part, err := r.ReadSlice(end)
		if text = append(text, part...); len(text) > most+1 {
			return "", fmt.Errorf("more than %d bytes in an answer: %.100q", most, text)
		}
		if err == nil {
			return string(text[:len(text)-1]), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

// readUntilNUL reads a name or a path, which ends with a NUL.
func readUntilNUL(r *bufio.Reader) (string, error) { return readUntil(r, 0, maxPath) }

// The answers to the questions that have no more than a first line.
func (s *shell) do(function string, args ...string) error { return s.ask(nil, nil, function, args...) }

// start starts the shell of a place. If the place has a server of its own, it is that one that answers, and the shell
// is nil.
func start(ctx context.Context, run exec.Runner) (s *shell, in io.WriteCloser, out *bufio.Reader, err error) {
	stdin, send := io.Pipe()
	receive, stdout := io.Pipe()
	said, mark := &exec.Beginning{Max: 1000}, rand.Text()
	go func() {
		status, err := run(ctx, []string{"/bin/sh", "-c", script, "sh", mark},
			exec.Session{Stdin: stdin, Stdout: stdout, Stderr: said})
		if err == nil && status != 0 {
			err = fmt.Errorf("the shell has ended with status %d: %s", status, strings.TrimSpace(said.String()))
		}
		_ = stdin.CloseWithError(io.ErrClosedPipe)
		_ = stdout.CloseWithError(err)
	}()
	out = bufio.NewReaderSize(receive, 64<<10)
	const server, files = "berth-sftp\n", "berth-files "
	hello, err := out.Peek(len(server))
	switch {
	case err != nil && len(hello) == 0:
		return nil, nil, nil, notEnd(err)
	case string(hello) == server:
		_, _ = out.Discard(len(server))
		return nil, send, out, nil
	}
	text, err := readUntilNUL(out)
	home, ok := strings.CutPrefix(text, files)
	if err != nil || !ok {
		return nil, nil, nil, fmt.Errorf("the shell of the workspace begins with %.100q", text)
	}
	return &shell{run: run, home: home, mark: mark, in: send, out: out}, send, out, nil
}
