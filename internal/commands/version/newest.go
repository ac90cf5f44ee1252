package version

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

const (
	// releases is where berth is released; install.sh says the same.
	releases = "https://github.com/berthdev/berth/releases"
	// patience is how long an answer may take, and most how many bytes it may have: a release has some twenty files.
	patience = 10 * time.Second
	most     = 64 << 10
)

// archive is a line of checksums.txt about an archive, as install.sh reads it.
var archive = regexp.MustCompile(`(?m)^[0-9a-f]{64}  berth_([0-9][0-9A-Za-z.+-]*)_[a-z]+_[a-z0-9]+\.(?:tar\.gz|zip)$`)

// newest asks for the newest release below an address, by the list of its files. The version begins with a v.
func newest(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	address = strings.TrimSuffix(address, "/") + "/latest/download/checksums.txt"
	files, err := download(ctx, address)
	if err != nil {
		return "", fault.New(fault.Unavailable, "the newest version cannot be asked for: %w", err).
			WithHint("set BERTH_RELEASES to a mirror if this machine does not reach GitHub")
	}
	found := archive.FindSubmatch(files)
	if found == nil {
		return "", fault.New(fault.Unavailable, "the newest version cannot be asked for: %s names no archive of berth",
			address)
	}
	return "v" + string(found[1]), nil
}

func download(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fault.New(fault.Unavailable, "%s: %s", address, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, most))
}
