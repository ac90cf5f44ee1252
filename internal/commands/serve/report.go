package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/gateway/pool"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// Reporting are the options of a gateway that is the only poollet of its pool.
type Reporting struct {
	ReportPool bool
	// PoolAddresses are TYPE=ADDRESS, and PoolClasses CLASS=CAPACITY or CLASS=CAPACITY/ALLOCATABLE.
	PoolAddresses, PoolClasses []string
	PoolPort                   int32 // 0 for the default
}

// The names of the flags.
const (
	flagReportPool  = "report-pool"
	flagPoolAddress = "pool-address"
	flagPoolPort    = "pool-port"
	flagPoolClass   = "pool-class"
)

func (r *Reporting) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&r.ReportPool, flagReportPool, false,
		"report the status and the heartbeat of the pool, whose only poollet the gateway is")
	flags.StringSliceVar(&r.PoolAddresses, flagPoolAddress, nil,
		"an address of the gateway that is reported, TYPE=ADDRESS, as InternalDNS=berth-gateway.berth-system.svc")
	flags.Int32Var(&r.PoolPort, flagPoolPort, 0,
		fmt.Sprintf("the port of these addresses (default: %d)", machine.DefaultPort))
	flags.StringSliceVar(&r.PoolClasses, flagPoolClass, nil,
		"a machine class of the pool and how many machines of it there is room for, CLASS=CAPACITY, or "+
			"CLASS=CAPACITY/ALLOCATABLE")
	cmdutil.NoFlagValues(cmd, flagPoolPort, flagPoolClass)
}

// validate names all that is wrong at once.
func (r *Reporting) validate() error {
	var wrong []string
	if !r.ReportPool {
		for flag, given := range map[string]bool{
			flagPoolAddress: len(r.PoolAddresses) > 0, flagPoolClass: len(r.PoolClasses) > 0,
			flagPoolPort: r.PoolPort != 0,
		} {
			if given {
				wrong = append(wrong, "--"+flag+" requires --"+flagReportPool)
			}
		}
		slices.Sort(wrong)
		return problems(wrong)
	}
	if r.PoolPort < 0 || r.PoolPort > 1<<16-1 {
		wrong = append(wrong, fmt.Sprintf("--%s must be from 1 to 65535, got %d", flagPoolPort, r.PoolPort))
	}
	for _, text := range r.PoolAddresses {
		if _, is := parseAddress(text); !is {
			wrong = append(wrong, fmt.Sprintf("--%s must be TYPE=ADDRESS, got %q", flagPoolAddress, text))
		}
	}
	if len(r.PoolClasses) == 0 {
		wrong = append(wrong, "--"+flagReportPool+" requires --"+flagPoolClass)
	}
	var names []string
	for _, text := range r.PoolClasses {
		class, is := parseClass(text)
		switch {
		case !is:
			wrong = append(wrong, fmt.Sprintf("--%s must be CLASS=CAPACITY or CLASS=CAPACITY/ALLOCATABLE, got %q",
				flagPoolClass, text))
		case slices.Contains(names, class.Name):
			wrong = append(wrong, fmt.Sprintf("--%s has %s twice", flagPoolClass, class.Name))
		}
		names = append(names, class.Name)
	}
	return problems(wrong)
}

func problems(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	return invalid("%s", strings.Join(wrong, "; "))
}

func parseAddress(text string) (machine.Address, bool) {
	kind, address, _ := strings.Cut(text, "=")
	t := machine.AddressType(kind)
	isIP := net.ParseIP(address) != nil
	wantsIP := t == machine.InternalIP || t == machine.ExternalIP
	is := slices.Contains(machine.AddressTypes(), t) &&
		(isIP && (wantsIP || t == machine.Hostname) || !wantsIP && len(validation.IsDNS1123Subdomain(address)) == 0)
	return machine.Address{Type: t, Address: address}, is
}

// parseClass reads CLASS=CAPACITY or CLASS=CAPACITY/ALLOCATABLE, of which the second one is not more.
func parseClass(text string) (class pool.Class, is bool) {
	name, numbers, _ := strings.Cut(text, "=")
	capacity, allocatable, both := strings.Cut(numbers, "/")
	if !both {
		allocatable = capacity
	}
	most, err := strconv.ParseUint(capacity, 10, 31)
	usable, err2 := strconv.ParseUint(allocatable, 10, 31)
	return pool.Class{Name: name, Capacity: int64(most), Allocatable: int64(usable)}, //nolint:gosec // 31 bits
		err == nil && err2 == nil && usable <= most && len(validation.IsDNS1123Subdomain(name)) == 0
}

// within are the options of a gateway behind a Service, which is reached at these hosts as well. Addresses that are
// given are the only ones.
func (r Reporting) within(service string, hosts []string) Reporting {
	if len(r.PoolAddresses) > 0 {
		return r
	}
	r.PoolAddresses = []string{string(machine.InternalDNS) + "=" + service}
	for _, host := range hosts {
		switch {
		case net.ParseIP(host) != nil:
			r.PoolAddresses = append(r.PoolAddresses, string(machine.ExternalIP)+"="+host)
		case !strings.HasPrefix(host, "*"):
			r.PoolAddresses = append(r.PoolAddresses, string(machine.ExternalDNS)+"="+host)
		}
	}
	return r
}

func (r Reporting) arguments() []string {
	all := []string{"--" + flagReportPool}
	for _, address := range r.PoolAddresses {
		all = append(all, "--"+flagPoolAddress+"="+address)
	}
	if r.PoolPort != 0 {
		all = append(all, fmt.Sprintf("--%s=%d", flagPoolPort, r.PoolPort))
	}
	for _, class := range r.PoolClasses {
		all = append(all, "--"+flagPoolClass+"="+class)
	}
	return all
}

// grantsOfReport are what the gateway may do to report a pool.
func grantsOfReport(name string) []manifest.Grant {
	cluster, namespace, leases := rbac.ReportOf(name)
	return []manifest.Grant{
		{Suffix: "report", Rules: cluster}, {Suffix: "report", Namespace: namespace, Rules: leases},
	}
}

// reporting is what reports the pool; nil for a gateway that does not.
type reporting struct{ *pool.Reporter }

// reporter is what reports the pool of a gateway, by the client that reads its machines.
func (o *GatewayOptions) reporter(client *kube.Client, log *slog.Logger) (*reporting, error) {
	if !o.ReportPool {
		return nil, nil //nolint:nilnil // nothing is reported
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fault.New(fault.Internal, "the name of this host: %w", err)
	}
	if len(o.PoolAddresses) == 0 {
		return nil, invalid("--%s requires --%s", flagReportPool, flagPoolAddress)
	}
	report := pool.Report{Pool: o.MachinePool, Port: o.PoolPort}
	if report.Port == 0 {
		report.Port = machine.DefaultPort
	}
	for _, text := range o.PoolAddresses {
		address, _ := parseAddress(text)
		report.Addresses = append(report.Addresses, address)
	}
	for _, text := range o.PoolClasses {
		class, _ := parseClass(text)
		report.Classes = append(report.Classes, class)
	}
	return &reporting{&pool.Reporter{
		Report: report, Objects: client.Dynamic, Leases: client.CoordinationV1(),
		Identity: serve.Identity("berth-gateway_" + host), Log: log, Now: time.Now,
	}}, nil
}

// beside works, and reports meanwhile. The lease is given back as soon as the work is to end.
func (r *reporting) beside(ctx context.Context, metrics *serve.Metrics,
	work func(context.Context) error,
) error {
	if r == nil {
		return work(ctx)
	}
	r.Watch(metrics)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		r.Run(ctx)
		return nil
	})
	group.Go(func() error { return work(ctx) })
	return group.Wait()
}
