package kube

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/fault"
)

// DialPorts connects with the ports of a pod. It uses WebSockets, or SPDY where the server or a proxy on the way knows
// only that.
func (c *Client) DialPorts(ctx context.Context, namespace, pod string) (httpstream.Connection, error) {
	target := c.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").
		URL()
	config, redirected := At(c.Config, target)
	dialer, err := portDialer(config, target)
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
		return nil, Fault(cmp.Or(redirected(), err),
			Call{Verb: "create", Resource: "pods/portforward", Namespace: namespace, Name: pod})
	}
	return connection, nil
}

func portDialer(config *rest.Config, target *url.URL) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(target, config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	return portforward.NewFallbackDialerForStreaming(websocket, old, RefusesWebSockets), nil
}

// RefusesWebSockets is true for the error of a server, or of a proxy on the way, that may know SPDY.
func RefusesWebSockets(err error) bool {
	return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
}
