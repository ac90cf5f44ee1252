package doctor

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/version"
)

// The versions of Kubernetes that berth is made for, of major version 1, and the
// distance from the newest beyond which it is untested.
const (
	oldestMinor = 31
	newestMinor = 36
	untried     = 3
)

// Limits of what is normal.
const (
	slow   = 500 * time.Millisecond
	skewed = 5 * time.Second
)

// Version judges the version of the API server and how long it takes to answer.
func Version(v version.Info, latency time.Duration) Finding {
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	said := fmt.Sprintf("Kubernetes %s, answers in %s", v.GitVersion, latency.Round(time.Millisecond))
	switch {
	case err != nil || v.Major != "1":
		return Warning(said+"; this version is not known", "berth supports Kubernetes 1.31 and newer")
	case minor < oldestMinor:
		return Failed(said+"; it is too old",
			"berth requires Kubernetes 1.31 or newer: ask your cluster administrator to upgrade")
	case minor > newestMinor+untried:
		return Warning(said+"; much newer than the version that berth was built for", "look for a newer version of berth")
	case latency > slow:
		return Warning(said+", which is slow",
			"each command waits for several answers in a row: check the network, VPN or proxy")
	}
	return OK(said)
}

// Clock compares the clocks. The server's time is from a header, in whole
// seconds, of an answer that took a while.
func Clock(server, before, after time.Time) Finding {
	if server.IsZero() {
		return Skipped("the server does not report its time")
	}
	off := time.Duration(0)
	switch {
	case server.Add(time.Second).Before(before):
		off = before.Sub(server.Add(time.Second))
	case server.After(after):
		off = server.Sub(after)
	}
	if off > skewed {
		return Warning(fmt.Sprintf("this machine's clock and the server's are %s apart", off.Round(time.Second)),
			"set this machine's clock (NTP); ages and times are wrong until then, and a login may be refused")
	}
	return OK("the clocks agree")
}
