package cause

import (
	"reflect"
	"testing"
	"time"
)

// What is ignored is named by its code or its reason, in any case.
func TestIgnores(t *testing.T) {
	p := Policy{IgnoreReasons: []string{"errimagepull", "CrashLoop"}}
	for name, want := range map[string]bool{"ErrImagePull": true, "crashloop": true, "ErrImage": false, "": false} {
		if got := p.Ignores("other", name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
	if (Policy{}).Ignores("CrashLoop") || p.Ignores() {
		t.Error("nothing is ignored")
	}
}

// The thresholds beside k8shell are its own; everything else is berth's.
func TestThresholdsOfK8shell(t *testing.T) {
	p, own := K8shellPolicy(), DefaultPolicy()
	if p.PullDelay != 8*time.Second || p.CrashLoopThreshold != 1 || p.MountDelay != 30*time.Second ||
		p.LongDelay != 60*time.Second || own.MountDelay != 0 || own.LongDelay != 0 {
		t.Errorf("%+v", p)
	}
	p.CrashLoopThreshold, p.MountDelay, p.LongDelay = own.CrashLoopThreshold, 0, 0
	if !reflect.DeepEqual(p, own) {
		t.Errorf("%+v, not %+v", p, own)
	}
}
