// Package kube is the little of the Kubernetes API that the cluster's own
// helpers need, over plain HTTP and JSON.
package kube

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrNotFound says that the API has no such object.
var ErrNotFound = errors.New("not found")

// Client talks to one API server as one user.
type Client struct {
	base string
	http *http.Client
}

// New makes a client of the API server at base, as the user whose certificate
// and key are dir/user.crt and dir/user.key, trusting dir/ca.crt.
func New(base, dir, user string) (*Client, error) {
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, user+".crt"), filepath.Join(dir, user+".key"))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}},
		MaxIdleConnsPerHost: 8,
	}
	return &Client{base: base, http: &http.Client{Transport: transport, Timeout: 5 * time.Second}}, nil
}

// Get reads the object or list at path into out; out may be nil.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	return c.do(ctx, http.MethodGet, path, nil, out)
}

// Create posts an object to the collection at path. An object that is already
// there is left as it is.
func (c *Client) Create(ctx context.Context, path string, object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, body, nil)
}

func (c *Client) do(ctx context.Context, method, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", path, ErrNotFound)
	case resp.StatusCode == http.StatusConflict && method == http.MethodPost:
		return nil
	case resp.StatusCode >= 300:
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, strings.TrimSpace(string(answer)))
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer, out)
}
