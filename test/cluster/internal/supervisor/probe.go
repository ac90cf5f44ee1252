package supervisor

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const probeTimeout = 2 * time.Second

// probe returns nil if something answers at the address, or if it is empty.
func probe(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	switch u.Scheme {
	case "tcp":
		return dial("tcp", u.Host)
	case "unix":
		return dial("unix", u.Path)
	case "http", "https":
		return get(address)
	}
	return fmt.Errorf("probe %s: the scheme must be tcp, unix, http or https", address)
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, probeTimeout)
	if err != nil {
		return err
	}
	return conn.Close()
}

// get does not check the certificate: it asks a daemon that this very process
// started, inside a namespace of its own.
func get(address string) error {
	client := &http.Client{
		Timeout: probeTimeout,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		},
	}
	resp, err := client.Get(address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, resp.Status)
	}
	return nil
}
