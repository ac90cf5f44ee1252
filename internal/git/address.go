package git

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// scp is git's short way to write a remote behind SSH: git@host:owner/name. What has a slash
// before its colon is something else.
var scp = regexp.MustCompile(`^([A-Za-z0-9_.-]+)@([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\]):([^:].*)$`)

// ParseAddress reads the address of a remote: a URL, or the short form of one for SSH, whose path
// is below the home directory at the remote unless it begins with a slash.
func ParseAddress(text string) (*url.URL, error) {
	parts := scp.FindStringSubmatch(text)
	if parts == nil || strings.Contains(text, "://") {
		return url.Parse(text)
	}
	path, err := url.PathUnescape(parts[3])
	if err != nil {
		return nil, fmt.Errorf("the path of a remote: %w", err)
	}
	return &url.URL{Scheme: "ssh", User: url.User(parts[1]), Host: parts[2], Path: path}, nil
}
