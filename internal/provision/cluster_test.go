package provision

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// A blueprint with a certificate needs cert-manager: without it nothing is created.
func TestCertManagerIsMissing(t *testing.T) {
	dir := modelDir(t)
	synctest.Test(t, func(t *testing.T) {
		m := newModel(time.Millisecond)
		p := newProcess(m)
		p.configure = func(pr *Provisioner) { pr.Certificate = &manifest.Certificate{} }
		err := <-p.start(t, "provision", "alice~model", dir)
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(),
			"cert-manager is not installed") {
			t.Errorf("%v", err)
		}
		if len(m.objects) > 0 {
			t.Errorf("it created %v", m.objects)
		}
	})
}
