package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// forward reaches a Service through the API server. Each connection is one of
// its own to a pod that is ready at that moment: when a pod dies, the next
// connection goes to another one.
type forward struct {
	client  *kube.Client
	service ServiceConfig
	open    context.Context //nolint:containedctx // the interface of the dialer has none
}

// Dial connects to the Service, whatever the address says.
func (f *forward) Dial(string, string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(f.open, dialTime)
	defer cancel()
	pod, port, err := f.target(ctx)
	if err != nil {
		return nil, err
	}
	dialer, err := f.dialer(pod)
	if err != nil {
		return nil, err
	}
	type dialled struct {
		connection httpstream.Connection
		err        error
	}
	result := make(chan dialled, 1)
	go func() { // it knows no context
		connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		result <- dialled{connection, err}
	}()
	select {
	case <-ctx.Done():
		go func() {
			if late := <-result; late.err == nil {
				_ = late.connection.Close()
			}
		}()
		return nil, ctx.Err()
	case d := <-result:
		if d.err != nil {
			return nil, kube.Fault(d.err, kube.Call{Verb: "create", Resource: "pods/portforward", Namespace: f.service.Namespace, Name: pod})
		}
		return stream(d.connection, port)
	}
}

// target is a ready pod behind the Service, and its port.
func (f *forward) target(ctx context.Context) (pod string, port int, err error) {
	core, s := f.client.CoreV1(), f.service
	service, err := core.Services(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if err != nil {
		return "", 0, kube.Fault(err, kube.Call{Verb: "get", Resource: "services", Namespace: s.Namespace, Name: s.Name})
	}
	pods, err := core.Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
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

// targetPort is the pod's port behind a port of the Service; 0 is NATS' usual
// one, or the only one that there is.
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
	return 0, fault.New(fault.InvalidArgument, "service %s in namespace %s has no port %d", service.Name, service.Namespace, want).
		WithHint("correct jobs.nats.service.port in the configuration")
}

// dialer prefers WebSockets and falls back to SPDY, as an exec does.
func (f *forward) dialer(pod string) (httpstream.Dialer, error) {
	target := f.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(f.service.Namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(f.client.Config)
	if err != nil {
		return nil, fault.New(fault.Internal, "port-forward: %w", err)
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(target, f.client.Config)
	if err != nil {
		return nil, fault.New(fault.Internal, "port-forward: %w", err)
	}
	return portforward.NewFallbackDialerForStreaming(websocket, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}

// stream makes a network connection out of the two streams of a forwarded port:
// what goes over it, and what the kubelet has to complain about.
func stream(connection httpstream.Connection, port int) (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	complaints, err := connection.CreateStream(headers)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("port-forward: %w", err), connection.Close())
	}
	_ = complaints.Close() // nothing is said on it from here
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("port-forward: %w", err), connection.Close())
	}
	// A stream has no deadlines; a pipe does.
	outside, inside := net.Pipe()
	end := func() {
		_ = inside.Close()
		_ = connection.Close()
	}
	go func() {
		defer end()
		_, _ = io.Copy(inside, data)
	}()
	go func() {
		defer end()
		_, _ = io.Copy(data, inside)
	}()
	go func() {
		defer end() // the kubelet could not reach the port, or the pod is gone
		_, _ = io.ReadAll(complaints)
	}()
	return outside, nil
}
