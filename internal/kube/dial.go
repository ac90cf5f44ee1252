package kube

import (
	"context"
	"net/http"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
)

// DialPorts connects with the ports of a pod. It uses WebSockets, or SPDY where the server
// or a proxy on the way knows only that.
func (c *Client) DialPorts(ctx context.Context, namespace, pod string) (httpstream.Connection, error) {
	dialer, err := c.portDialer(namespace, pod)
	if err != nil {
		return nil, fault.New(fault.Internal, "port-forward: %w", err)
	}
	var connection httpstream.Connection
	done := make(chan struct{})
	go func() { // Dial takes no context
		defer close(done)
		connection, _, err = dialer.Dial(portforward.PortForwardProtocolV1Name)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		go func() {
			<-done
			if err == nil {
				_ = connection.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, Fault(err, Call{Verb: "create", Resource: "pods/portforward", Namespace: namespace, Name: pod})
	}
	return connection, nil
}

func (c *Client) portDialer(namespace, pod string) (httpstream.Dialer, error) {
	target := c.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(c.Config)
	if err != nil {
		return nil, err
	}
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(target, c.Config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	return portforward.NewFallbackDialerForStreaming(websocket, old, RefusesWebSockets), nil
}

// RefusesWebSockets is true for the error of a server, or of a proxy on the way, that may
// know SPDY.
func RefusesWebSockets(err error) bool {
	return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
}
