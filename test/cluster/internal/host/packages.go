// Package host looks after what the machine has to have.
package host

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Elsewhere is what to do on a machine that cannot run the cluster.
const Elsewhere = "use any cluster that your kubeconfig points at instead: make demo CLUSTER=current"

// Path is the PATH of everything in the cluster.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// tools maps what the cluster runs to the Debian packages that have it.
func tools() map[string]string {
	return map[string]string{
		"containerd": "containerd",
		"busybox":    "busybox-static",
		"runc":       "runc",
		"iptables":   "iptables",
		"nft":        "nftables",
		"conntrack":  "conntrack",
		"ip":         "iproute2",
		"git":        "git", // for the image that has it
	}
}

// plugins are the places where the network plugins may be; Debian's first.
func plugins() []string { return []string{"/usr/lib/cni", "/opt/cni/bin"} }

// CNI finds the directory with the network plugins.
func CNI() (string, error) {
	for _, dir := range plugins() {
		if _, err := os.Stat(dir + "/bridge"); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no network plugins in %s", strings.Join(plugins(), " or "))
}

// CheckRoot says what is wrong if the process may not run a cluster.
func CheckRoot(uid int) error {
	if uid != 0 {
		return errors.New("running the test cluster takes root; " + Elsewhere)
	}
	return nil
}

// Missing lists the packages to install.
func Missing() []string {
	var missing []string
	for tool, pkg := range tools() {
		if path := find(tool); path == "" || tool == "busybox" && !static(path) {
			missing = append(missing, pkg)
		}
	}
	if _, err := CNI(); err != nil {
		missing = append(missing, "containernetworking-plugins")
	}
	slices.Sort(missing)
	return missing
}

// find looks in [Path], as the caller's PATH may lack half of it; empty if a tool is not there.
func find(tool string) string {
	for _, dir := range filepath.SplitList(Path) {
		if _, err := os.Stat(filepath.Join(dir, tool)); err == nil {
			return filepath.Join(dir, tool)
		}
	}
	return ""
}

// static reports whether a program runs in an image that has nothing else. Debian's package
// busybox has one that does not.
func static(path string) bool {
	program, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = program.Close() }()
	return !slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// Install installs packages.
func Install(ctx context.Context, packages []string, say func(string)) error {
	list := strings.Join(packages, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("the test cluster needs %s, and there is no apt-get here to install them with; install them "+
			"some other way, or %s", list, Elsewhere)
	}
	say("installing " + list)
	if err := apt(ctx, append([]string{"install"}, packages...)); err == nil {
		return nil
	}
	// Most likely the lists are missing or old.
	if err := apt(ctx, []string{"update"}); err != nil {
		return err
	}
	return apt(ctx, append([]string{"install"}, packages...))
}

func apt(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q", "-y", "--no-install-recommends"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
