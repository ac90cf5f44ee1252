//go:build linux

package csi

import (
	"context"
	"net"
	"testing"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// standIn puts a controller in front of the driver, which has none: csi-sanity publishes
// only what a controller has made. All else is the driver's answer.
func standIn(t *testing.T, socket, driver string) (stop func()) {
	t.Helper()
	conn, err := grpc.NewClient(driver, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, &identity{of: csi.NewIdentityClient(conn)})
	csi.RegisterControllerServer(server, &controller{})
	csi.RegisterNodeServer(server, &node{of: csi.NewNodeClient(conn)})
	go func() { _ = server.Serve(listener) }()
	return func() {
		server.Stop()
		_ = conn.Close()
	}
}

type identity struct {
	csi.UnimplementedIdentityServer
	of csi.IdentityClient
}

func (i *identity) GetPluginInfo(ctx context.Context, r *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return i.of.GetPluginInfo(ctx, r)
}

func (i *identity) Probe(ctx context.Context, r *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return i.of.Probe(ctx, r)
}

func (i *identity) GetPluginCapabilities(ctx context.Context,
	r *csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	answer, err := i.of.GetPluginCapabilities(ctx, r)
	if err == nil {
		answer.Capabilities = append(answer.Capabilities, &csi.PluginCapability{
			Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{
				Type: csi.PluginCapability_Service_CONTROLLER_SERVICE,
			}},
		})
	}
	return answer, err
}

type node struct {
	csi.UnimplementedNodeServer
	of csi.NodeClient
}

func (n *node) NodePublishVolume(ctx context.Context,
	r *csi.NodePublishVolumeRequest,
) (*csi.NodePublishVolumeResponse, error) {
	return n.of.NodePublishVolume(ctx, r)
}

func (n *node) NodeUnpublishVolume(ctx context.Context,
	r *csi.NodeUnpublishVolumeRequest,
) (*csi.NodeUnpublishVolumeResponse, error) {
	return n.of.NodeUnpublishVolume(ctx, r)
}

func (n *node) NodeGetVolumeStats(ctx context.Context,
	r *csi.NodeGetVolumeStatsRequest,
) (*csi.NodeGetVolumeStatsResponse, error) {
	return n.of.NodeGetVolumeStats(ctx, r)
}

func (n *node) NodeGetCapabilities(ctx context.Context,
	r *csi.NodeGetCapabilitiesRequest,
) (*csi.NodeGetCapabilitiesResponse, error) {
	return n.of.NodeGetCapabilities(ctx, r)
}

func (n *node) NodeGetInfo(ctx context.Context, r *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return n.of.NodeGetInfo(ctx, r)
}

// controller makes up what the kubelet would ask for: an inline volume of a pod.
type controller struct {
	csi.UnimplementedControllerServer
}

func (*controller) ControllerGetCapabilities(context.Context,
	*csi.ControllerGetCapabilitiesRequest,
) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{{
		Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{
			Type: csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		}},
	}}}, nil
}

func (*controller) CreateVolume(_ context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if r.GetName() == "" || len(r.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "a name and capabilities are required")
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId: "csi-" + r.GetName(), CapacityBytes: r.GetCapacityRange().GetRequiredBytes(),
		VolumeContext: map[string]string{"csi.storage.k8s.io/ephemeral": "true", "csi.storage.k8s.io/pod.uid": "pod-" +
			r.GetName()},
	}}, nil
}

func (*controller) DeleteVolume(context.Context, *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	return &csi.DeleteVolumeResponse{}, nil
}
