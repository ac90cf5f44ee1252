package credential

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func TestRefuseLinkLocal(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254:80":          true,
		"169.254.0.1:443":             true,
		"[fe80::1%eth0]:80":           true,
		"[febf::1]:80":                true,
		"[::ffff:169.254.169.254]:80": true,
		"169.253.255.255:80":          false,
		"127.0.0.1:80":                false,
		"10.0.0.1:80":                 false,
		"[::1]:80":                    false,
		"[fd00::1]:80":                false,
	} {
		t.Run(address, func(t *testing.T) {
			if err := refuseLinkLocal("tcp", address, nil); (err != nil) != refused ||
				refused && fault.CodeOf(err) != fault.PermissionDenied {
				t.Error(err)
			}
		})
	}
}
