package store

import "github.com/nats-io/nats.go"

// OpenNATSBy connects through a dialer.
func OpenNATSBy(c NATSConfig, s Setting, dialer nats.CustomDialer) *NATS {
	return openNATS(c, s, dialer)
}
