package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/nats-io/nats.go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Forward is a dialer for a Service of the cluster, through the API server as long as ctx lasts; nil if no Service is
// named. Each connection goes to a pod that is ready at that moment: when a pod dies, the next connection goes to
// another one.
func Forward(ctx context.Context, client *kube.Client, service ServiceConfig) nats.CustomDialer {
	if service.Name == "" {
		return nil
	}
	return dialerFunc(func() (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return dialService(ctx, client, service)
	})
}

type dialerFunc func() (net.Conn, error)

// Dial connects, whatever the address says.
func (f dialerFunc) Dial(string, string) (net.Conn, error) { return f() }

func dialService(ctx context.Context, client *kube.Client, s ServiceConfig) (net.Conn, error) {
	pod, port, err := target(ctx, client, s)
	if err != nil {
		return nil, err
	}
	connection, err := client.DialPorts(ctx, s.Namespace, pod)
	if err != nil {
		return nil, err
	}
	return stream(connection, port)
}

// target is a ready pod behind the Service, and its port.
func target(ctx context.Context, client *kube.Client, s ServiceConfig) (pod string, port int, err error) {
	service, err := client.CoreV1().Services(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if err != nil {
		return "", 0, kube.Fault(err, kube.Call{
			Verb: "get", Resource: "services", Namespace: s.Namespace, Name: s.Name,
		})
	}
	pods, err := client.CoreV1().Pods(s.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
	if err != nil {
		return "", 0, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: s.Namespace})
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.DeletionTimestamp == nil && kube.IsReady(p) && len(service.Spec.Selector) > 0 {
			port, err := targetPort(service, p, s.Port)
			return p.Name, port, err
		}
	}
	return "", 0, fault.New(fault.Unavailable, "no pod of service %s in namespace %s is ready", s.Name, s.Namespace)
}

// targetPort is the pod's port behind a port of the Service; 0 is NATS' usual one, or the only one of the Service.
func targetPort(service *corev1.Service, pod *corev1.Pod, want int) (int, error) {
	for _, p := range service.Spec.Ports {
		if int(p.Port) != want && (want != 0 || int(p.Port) != defaultPort && len(service.Spec.Ports) > 1) {
			continue
		}
		if p.TargetPort.StrVal == "" {
			return max(p.TargetPort.IntValue(), 0), nil
		}
		for _, c := range pod.Spec.Containers {
			for _, named := range c.Ports {
				if named.Name == p.TargetPort.StrVal {
					return int(named.ContainerPort), nil
				}
			}
		}
	}
	return 0, fault.New(fault.InvalidArgument, "service %s in namespace %s has no port %d", service.Name,
		service.Namespace, want).
		WithHint("correct the port of the service in the configuration")
}

// stream makes a network connection of the two streams of a forwarded port: what
// goes wrong at the kubelet, and the data.
func stream(connection httpstream.Connection, port int) (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	var streams []httpstream.Stream
	for _, kind := range []string{corev1.StreamTypeError, corev1.StreamTypeData} {
		headers.Set(corev1.StreamType, kind)
		s, err := connection.CreateStream(headers)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("port-forward: %w", err), connection.Close())
		}
		streams = append(streams, s)
	}
	failures, data := streams[0], streams[1]
	_ = failures.Close()          // nothing is sent on it from here
	outside, inside := net.Pipe() // a stream has no deadlines; a pipe does
	relay := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		_ = inside.Close()
		_ = connection.Close()
	}
	go relay(inside, data)
	go relay(data, inside)
	go relay(io.Discard, failures) // the kubelet could not reach the port, or the pod is gone
	return outside, nil
}
