package credential

import (
	"net/netip"
	"strings"
)

// IsLoopback is true for a host that means this one, by its name or its address: a credential
// may be sent there without encryption.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || strings.EqualFold(host, "localhost")
}
