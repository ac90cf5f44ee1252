package judge

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// said lets the instance before have ended with a message.
func said(code, restarts int32, message string) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		watchtest.ExitedBefore(code, "Error", restarts)(s)
		s.LastTerminationState.Terminated.Message = message
	}
}

func TestLastWords(t *testing.T) {
	for name, test := range map[string]struct {
		message string
		exit    int32
		want    string // Code: words
	}{
		"read-only": {
			"nginx: [emerg] mkdir() \"/var/cache\" failed (30: Read-only file system)\n", 1,
			"ReadOnlyFilesystem: exit code 1: nginx: [emerg] mkdir()",
		},
		"wrong owner": {
			`FATAL: data directory "/data" has wrong ownership`, 1,
			"PermissionDenied: has wrong ownership",
		},
		"a database's rights": {"ERROR: permission denied for table users", 1, "CrashLoop: for table users"},
		"no host":             {"dial tcp: lookup db on 10.96.0.10:53: no such host", 1, "HostNotFound: lookup db"},
		"refused": {"Error: connect ECONNREFUSED 10.0.0.1:5432\n    at TCPConnectWrap.afterConnect\n" +
			"  errno: -111\n}\n\nNode.js v22.1.0", 1, "ServiceUnreachable: connect ECONNREFUSED"},
		"another processor": {"exec /app: exec format error", 255, "ExecFormat: exec format error"},
		"a shell":           {"/bin/sh: 1: npm: not found", 127, "CommandNotFound: npm"},
		"an interpreter":    {"exec /entrypoint.sh: no such file or directory", 255, "CommandNotFound: entrypoint"},
		"a module": {"Traceback (most recent call last):\n  File \"/app/main.py\", line 1, in <module>\n" +
			"ModuleNotFoundError: No module named 'flask'", 1, "FileMissing: flask"},
		"the root of an error": {
			"Exception in thread \"main\" java.lang.RuntimeException: start\n" +
				"\tat a.Error.b(C.java:1)\nCaused by: java.net.UnknownHostException: db\n\tat java.net.X\n\t... 3 more",
			1,
			"HostNotFound: Caused by: java.net.UnknownHostException: db",
		},
		"a panic": {"panic: open /etc/app.yaml: no such file or directory\n\ngoroutine 1 [running]:\n" +
			"main.main()\n\t/src/main.go:9 +0x1d\nexit status 2", 2, "FileMissing: panic: open /etc/app.yaml"},
		"heap": {
			"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", 134,
			"HeapExhausted: heap out of memory",
		},
		"port":        {"listen tcp :8080: bind: address already in use", 1, "AddressInUse: :8080"},
		"disk":        {"write /data/x: no space left on device", 1, "DiskFull: /data/x"},
		"a processor": {"Fatal glibc error: CPU does not support x86-64-v2", 127, "CPUUnsupported: x86-64-v2"},
		"instructions": {
			"WARNING: MongoDB 5.0+ requires a CPU with AVX support\n" +
				"entrypoint.sh: line 381: 27 Illegal instruction (core dumped)", 132,
			"CPUUnsupported: Illegal instruction",
		},
		"open files": {"accept tcp [::]:80: accept4: too many open files", 1, "TooManyOpenFiles: accept4"},
		"one line before the last": {
			"[ERROR] Worker (pid:7) was sent SIGKILL! Perhaps out of memory?\n[ERROR] Shutting down: Master\n" +
				"[ERROR] Reason: Worker failed to boot.", 1,
			"HeapExhausted: Perhaps out of memory",
		},
		"an error that was overcome before the last": {
			"INFO cache: connection refused, retrying\n[ERROR] bad license key", 1, "CrashLoop: bad license key",
		},
		"an error long before the last": {
			"dial tcp: connection refused\n1\n2\n3\n4\n5\n[ERROR] bad configuration", 1,
			"CrashLoop: [ERROR] bad configuration",
		},
		"watches are no disk": {
			"failed to create fsnotify watcher: inotify_init: no space left on device", 1,
			"TooManyOpenFiles: inotify",
		},
		"login":                 {`FATAL: password authentication failed for user "app"`, 1, "LoginRefused: app"},
		"certificate":           {"x509: certificate signed by unknown authority", 1, "CertificateRejected: x509"},
		"unknown":               {"giving up\n\n", 3, "CrashLoop: last exit code 3: giving up"},
		"none":                  {"", 1, "CrashLoop: last exit code 1"},
		"killed from outside":   {"EOF: connection refused", 143, "CrashLoop: connection refused"},
		"what a terminal obeys": {"\x1b[31mFATAL\x1b[0m\x07 config\u202e bad\r\n", 1, "CrashLoop: FATAL config bad"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := appThat(watchtest.Waits("CrashLoopBackOff", "back-off 40s restarting failed container"),
				said(test.exit, 3, test.message))
			compare(t, Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Second)).Failed, test.want)
		})
	}
}

// Of a log of any size only the end is read, and one line of it is shortened.
func TestLastWordsAreBounded(t *testing.T) {
	pod := appThat(said(1, 3, strings.Repeat("error: ", 100_000)))
	if f := Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Second)).Failed; len(f.Message) > 600 {
		t.Errorf("%d bytes", len(f.Message))
	}
	pod = appThat(said(1, 3, "error: read-only file system\n"+strings.Repeat("done\n", 8<<10)))
	compare(t, Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Second)).Failed,
		"CrashLoop: last exit code 1: done")
}

// What the last words say is a case of the crash loop, and ignored with it.
func TestLastWordsAreIgnoredWithTheCrashLoop(t *testing.T) {
	for _, reason := range []string{cause.CrashLoop, "CrashLoopBackOff", cause.ReadOnlyFilesystem} {
		p := cause.DefaultPolicy()
		p.IgnoreReasons = []string{reason}
		if got := Pod(appThat(said(1, 3, "Read-only file system")), p,
			watchtest.After(time.Second)); got.Failed != nil ||
			len(got.Ignored) != 1 {
			t.Errorf("%s: %+v", reason, got)
		}
	}
}
