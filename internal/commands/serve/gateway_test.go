package serve_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/terminal"
)

func TestGatewayOptions(t *testing.T) {
	forget := func(o *serve.GatewayOptions) { o.IO, o.Client = terminal.Streams{}, nil }
	defaults := func(change func(*serve.GatewayOptions)) serve.GatewayOptions {
		o := serve.GatewayOptions{
			Serving:      serve.Serving{Listen: "127.0.0.1:8443", About: serve.About{MetricsListen: "127.0.0.1:8081"}},
			Capacity:     serve.DefaultCapacity(),
			StreamListen: "127.0.0.1:0", AllowedFor: 5 * time.Minute,
		}
		change(&o)
		return o
	}
	cmdtest.Options(t, serve.NewGateway, forget, map[string]cmdtest.Case[serve.GatewayOptions]{
		"the defaults": {Want: defaults(func(*serve.GatewayOptions) {})},
		"as in a pod": {
			Args: "--listen :1 --metrics-listen :2 --stream-listen 127.0.0.1:3 --tls-cert c --tls-key k --client-ca " +
				"a --max-sessions 2 --max-sessions-per-user 1 --allowed-for 1m",
			Want: defaults(func(o *serve.GatewayOptions) {
				o.Serving = serve.Serving{Listen: ":1", About: serve.About{MetricsListen: ":2", Cert: "c", Key: "k"}}
				o.StreamListen, o.ClientCA, o.Sessions, o.SessionsPerUser, o.AllowedFor = "127.0.0.1:3", "a", 2, 1,
					time.Minute
			}),
		},
		"with machines": {
			Args: "--machine-pool p --target-kubeconfig f --target-namespace n --machine-namespace m",
			Want: defaults(func(o *serve.GatewayOptions) {
				o.MachinePool, o.TargetKubeconfig, o.TargetNamespace, o.MachineNamespace = "p", "f", "n", "m"
			}),
		},
		"a pool that is reported": {
			Args: "--machine-pool p --target-kubeconfig f --report-pool --pool-address " +
				"InternalDNS=a.svc,InternalIP=::1 --pool-port 1 --pool-class small=20 --pool-class x=4/2",
			Want: defaults(func(o *serve.GatewayOptions) {
				o.MachinePool, o.TargetKubeconfig = "p", "f"
				o.Reporting = serve.Reporting{
					ReportPool: true, PoolAddresses: []string{"InternalDNS=a.svc", "InternalIP=::1"}, PoolPort: 1,
					PoolClasses: []string{"small=20", "x=4/2"},
				}
			}),
		},
		"a report of no pool": {Args: "--report-pool", Err: "--report-pool requires --machine-pool"},
		"no classes": {
			Args: "--machine-pool p --target-kubeconfig f --report-pool",
			Err:  "--report-pool requires --pool-class",
		},
		"all that is wrong with a report": {
			Args: "--machine-pool p --target-kubeconfig f --report-pool --pool-port 70000 " +
				"--pool-address Hostname --pool-address InternalIP=a.svc --pool-class x=1/2,y=1,y=2",
			Err: "--pool-port must be from 1 to 65535, got 70000; " +
				`--pool-address must be TYPE=ADDRESS, got "Hostname"; ` +
				`--pool-address must be TYPE=ADDRESS, got "InternalIP=a.svc"; ` +
				`--pool-class must be CLASS=CAPACITY or CLASS=CAPACITY/ALLOCATABLE, got "x=1/2"; ` +
				`--pool-class has y twice`,
		},
		"classes without a report": {
			Args: "--machine-pool p --target-kubeconfig f --pool-class x=1 --pool-port 1",
			Err:  "--pool-class requires --report-pool; --pool-port requires --report-pool",
		},
		"half a certificate":              {Args: "--tls-key k", Err: "--tls-cert and --tls-key are given together"},
		"client certificates without TLS": {Args: "--client-ca a", Err: "--client-ca requires --tls-cert"},
		"no sessions":                     {Args: "--max-sessions 0", Err: "--max-sessions must be at least 1, got 0"},
		"more of a user than in all": {
			Args: "--max-sessions 10 --max-sessions-per-user 20",
			Err:  "--max-sessions-per-user is 20, more than the 10 of --max-sessions",
		},
		"no sessions of a user": {
			Args: "--max-sessions-per-user 0",
			Err:  "--max-sessions-per-user must be at least 1, got 0",
		},
		"a permission that is not believed": {
			Args: "--allowed-for 10ms",
			Err:  "--allowed-for must be at least 1s, got 10ms",
		},
		"a pool without machines": {
			Args: "--machine-pool p",
			Err:  "--machine-pool and --target-kubeconfig are given together",
		},
		"all namespaces in one": {
			Args: "--machine-pool p --target-kubeconfig f --target-namespace n",
			Want: defaults(func(o *serve.GatewayOptions) {
				o.MachinePool, o.TargetKubeconfig, o.TargetNamespace = "p", "f", "n"
			}),
		},
		"a namespace without machines": {
			Args: "--machine-namespace n",
			Err:  "--machine-namespace requires --machine-pool",
		},
		"a namespace of machines without any": {
			Args: "--target-namespace n",
			Err:  "--target-namespace requires --machine-pool",
		},
		"a machine runtime": {
			Args: "--machine-pool p --iri-endpoint unix:///run/iri.sock",
			Want: defaults(func(o *serve.GatewayOptions) { o.MachinePool, o.Endpoint = "p", "unix:///run/iri.sock" }),
		},
		"a machine runtime without a pool": {
			Args: "--iri-endpoint unix:///run/iri.sock",
			Err:  "--iri-endpoint requires --machine-pool",
		},
		"a machine runtime beside an API server": {
			Args: "--machine-pool p --iri-endpoint unix:///run/iri.sock --target-kubeconfig f",
			Err:  "--iri-endpoint and --target-kubeconfig are given together: machines run at one of them",
		},
		"a machine runtime elsewhere": {
			Args: "--machine-pool p --iri-endpoint tcp://127.0.0.1:1",
			Err:  `--iri-endpoint must be unix:///PATH of a socket, got "tcp://127.0.0.1:1"`,
		},
		"no pool": {
			Args: "--machine-pool East --target-kubeconfig f",
			Err:  `--machine-pool must be the name of a machine pool, got "East"`,
		},
		"no namespace there": {
			Args: "--machine-pool p --target-kubeconfig f --target-namespace N --machine-namespace m",
			Err:  `--target-namespace must be the name of a namespace, got "N"`,
		},
		"an argument": {Args: "x", Err: `unexpected argument "x"`},
	})
}
