package detect

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
)

// withWords quotes the last words in a finding of a container that ended, which makes a
// case of their cause of it. What killed it from outside, for a probe or for the time
// that it took, knows better than its log.
func withWords(f *cause.Finding, t *corev1.ContainerStateTerminated) *cause.Finding {
	words := lastWords(t)
	if words == "" {
		return f
	}
	f.Message += ": " + words
	if code := meaningOf(words); code != "" && t.ExitCode != exitKilled && t.ExitCode != exitTerminated {
		f.General, f.Code = f.Code, code
	}
	return f
}

// The exit codes of what was ended from outside: SIGKILL and SIGTERM.
const exitKilled, exitTerminated = 137, 143

// lastWords are a line of what a container has said at its end, empty if nothing: it is
// a foreign text of up to 4096 bytes, which may be the end of a log.
func lastWords(t *corev1.ContainerStateTerminated) string {
	if t.ExitCode == 0 {
		return ""
	}
	text := t.Message[max(0, len(t.Message)-mostWords):]
	lines := slices.DeleteFunc(strings.Split(fault.Plain(text), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || frame.MatchString(line)
	})
	for at, line := range slices.Backward(lines) {
		if !complaint.MatchString(line) {
			continue
		}
		if meaningOf(line) != "" {
			return oneOf(line)
		}
		// It may only say that it ends: the reason is known by its words, or it is the last that is said.
		for _, before := range slices.Backward(lines[max(0, at-mostBefore):at]) {
			if tells(meaningOf(before)) {
				return oneOf(before)
			}
		}
		return oneOf(line)
	}
	if len(lines) == 0 {
		return ""
	}
	return oneOf(lines[len(lines)-1])
}

// tells is true for what ends a program whenever it is said, and not only at the end: of a host that cannot be reached,
// many programs write, and try again.
func tells(code string) bool {
	switch code {
	case cause.HeapExhausted, cause.CPUUnsupported, cause.TooManyOpenFiles:
		return true
	}
	return false
}

const (
	mostWords  = 8 << 10 // bytes that are looked at
	mostBefore = 4       // lines before the last complaint that may have its reason, those of traces not counted
	mostLine   = 300     // bytes of a line that are quoted
)

const (
	// complaint is how lines look that say why a program ends.
	complaint pattern.Expr = `(?i)\b(?:panic|fatal|error|exception|emerg|critical|failed|cannot|can't|could not` +
		`|unable|denied|refused|not found|no such|read-only)\b|Error:|Exception:`
	// frame is a line of a stack trace, or what a shell or a runtime adds to it.
	frame pattern.Expr = `^\s+at |^\s*goroutine \d|^\t|^\s*File "|^\s*exit status \d+\s*$|^\s*\.\.\. \d+ more` +
		`|^\s*\d+: 0x[0-9a-f]+ |^-+ Native stack trace|^Emitted '\w+' event on ` +
		`|npm (?:ERR!|error) (?:A complete log|[A-Z]:|/|path |signal |command |syscall |errno |code ELIFECYCLE)`
)

func oneOf(line string) string {
	return fault.Shorten(strings.Join(strings.Fields(line), " "), mostLine)
}

// complaintKind is what words are known to mean.
type complaintKind struct {
	code   string
	words  pattern.Expr
	unless pattern.Expr // what the same words mean elsewhere; empty if nothing
}

const (
	wrongFormat  pattern.Expr = `exec format error|cannot execute binary file`
	wordsOfShell pattern.Expr = `(?i)executable file not found|\bexec:? \S+: (?:no such file|not found)` +
		`|^(?:/\S*/)?(?:ba|a|da)?sh: .*not found|env: .*no such file`
	wordsOfROFS pattern.Expr = `(?i)read-only file ?system|\bEROFS\b`
	wordsOfDisk pattern.Expr = `(?i)no space left on device|\bENOSPC\b|disk quota exceeded`
	notOfDisk   pattern.Expr = `(?i)inotify|watch`
	wordsOfHeap pattern.Expr = `java\.lang\.OutOfMemoryError|heap out of memory|std::bad_alloc|\bMemoryError\b` +
		`|runtime: out of memory|(?i)perhaps out of memory`
	wordsOfCPU pattern.Expr = `(?i)CPU does not support|CPU lacks|\bx86-64-v\d\b|AMD64 processors with v\d` +
		`|(?:requires?|without|no) (?:support for )?(?:AVX|SSE\d|AES-NI|popcnt)|illegal instruction` +
		`|CPUs supporting at least|compiled to use (?:AVX|SSE)|built with baseline optimizations|required CPU features`
	wordsOfFiles pattern.Expr = `(?i)too many open files|\bEMFILE\b|\bENFILE\b|inotify.*(?:no space left ` +
		`on device|limit)|number of file watchers reached|no file descriptors available`
	wordsOfAddress pattern.Expr = `(?i)address (?:is )?already in use|\bEADDRINUSE\b|port \d+ (?:is|was) already in use`
	wordsOfTLS     pattern.Expr = `(?i)x509:|certificate verify failed|unable to get local issuer` +
		`|self[- ]signed certificate|PKIX path|certificate has expired|certificate signed by unknown`
	wordsOfLogin pattern.Expr = `(?i)password authentication failed|access denied for user|authentication failed` +
		`|\bWRONGPASS\b|\bNOAUTH\b|invalid username|401 unauthorized|login failed for user`
	wordsOfDNS pattern.Expr = `(?i)no such host|could not translate host|name or service not known` +
		`|name resolution|does not resolve|\bENOTFOUND\b|\bEAI_AGAIN\b|UnknownHost|could not resolve host` +
		`|bad address|nodename nor servname|host not found`
	wordsOfPeer pattern.Expr = `(?i)connection refused|\bECONNREFUSED\b|\bETIMEDOUT\b|no route to host` +
		`|i/o timeout|connection timed out|network is unreachable|can't connect to|could not connect to`
	wordsOfRights pattern.Expr = `(?i)permission denied|\bEACCES\b|\bEPERM\b|operation not permitted` +
		`|wrong ownership|not writable|PermissionError|AccessDeniedException`
	notOfRights pattern.Expr = `(?i)permission denied for|permission denied \(publickey|forbidden`
	wordsOfFile pattern.Expr = `(?i)no such file or directory|\bENOENT\b|cannot find module|no module named` +
		`|cannot open shared object|unable to access jarfile|could not find or load main class|FileNotFound` +
		`|NoSuchFileException|ClassNotFoundException`
)

// complaints are in the order in which they are looked for.
func complaints() []complaintKind {
	return []complaintKind{
		{cause.ExecFormat, wrongFormat, ""},
		{cause.CPUUnsupported, wordsOfCPU, ""},
		{cause.TooManyOpenFiles, wordsOfFiles, ""},
		{cause.CommandNotFound, wordsOfShell, ""},
		{cause.ReadOnlyFilesystem, wordsOfROFS, ""},
		{cause.DiskFull, wordsOfDisk, notOfDisk},
		{cause.HeapExhausted, wordsOfHeap, ""},
		{cause.AddressInUse, wordsOfAddress, ""},
		{cause.CertificateRejected, wordsOfTLS, ""},
		{cause.LoginRefused, wordsOfLogin, ""},
		{cause.HostNotFound, wordsOfDNS, ""},
		{cause.ServiceUnreachable, wordsOfPeer, ""},
		{cause.PermissionDenied, wordsOfRights, notOfRights},
		{cause.FileMissing, wordsOfFile, ""},
	}
}

// meaningOf is the code for what the last words say; empty if they are not known.
func meaningOf(words string) string {
	for _, known := range complaints() {
		if known.words.MatchString(words) && (known.unless == "" || !known.unless.MatchString(words)) {
			return known.code
		}
	}
	return ""
}
