//go:build linux

package driver

import (
	"context"
	"path"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// GetPluginInfo says who this is.
func (d *Driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.o.Name, VendorVersion: d.o.Version}, nil
}

// GetPluginCapabilities says that volumes belong to a node.
func (d *Driver) GetPluginCapabilities(context.Context,
	*csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{
		Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS}},
	}}}, nil
}

// Probe says whether the driver can work.
func (d *Driver) Probe(ctx context.Context, _ *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(d.Ready(ctx) == nil)}, nil
}

// TopologyKey is the label of a node that has the driver.
func TopologyKey(driver string) string { return driver + "/node" }

// NodeGetInfo says which node this is.
func (d *Driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{
		NodeId: d.o.Node, MaxVolumesPerNode: d.o.MaxVolumes,
		AccessibleTopology: &csi.Topology{Segments: map[string]string{TopologyKey(d.o.Name): d.o.Node}},
	}, nil
}

// NodeGetCapabilities offers statistics, and neither staging nor expanding.
func (d *Driver) NodeGetCapabilities(context.Context,
	*csi.NodeGetCapabilitiesRequest,
) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{Capabilities: []*csi.NodeServiceCapability{{
		Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: csi.NodeServiceCapability_RPC_GET_VOLUME_STATS}},
	}}}, nil
}

// NodeGetVolumeStats says what the disk of a volume has: all volumes of a node share it.
func (d *Driver) NodeGetVolumeStats(_ context.Context,
	r *csi.NodeGetVolumeStatsRequest,
) (*csi.NodeGetVolumeStatsResponse, error) {
	switch {
	case r.GetVolumeId() == "":
		return nil, invalid("the volume ID is missing")
	case r.GetVolumePath() == "":
		return nil, invalid("the volume path is missing")
	}
	at := path.Clean(r.GetVolumePath())
	record, known := d.queue.Get(r.GetVolumeId())
	if !known || record.Waits() {
		return nil, status.Errorf(codes.NotFound, "volume %s is not published", r.GetVolumeId())
	}
	table, err := d.table()
	if err != nil {
		return nil, internal(err)
	}
	if !table.Is(d.path(record.PodUID, record.ID), at) {
		return nil, status.Errorf(codes.NotFound, "volume %s is not mounted at %s", record.ID, at)
	}
	disk, err := d.dir.Disk()
	if err != nil {
		return nil, internal(err)
	}
	usage := []*csi.VolumeUsage{{Unit: csi.VolumeUsage_BYTES, Available: disk.Free, Total: disk.Total, Used: disk.Used}}
	if disk.Inodes > 0 {
		usage = append(usage, &csi.VolumeUsage{
			Unit: csi.VolumeUsage_INODES, Available: disk.FreeInodes, Total: disk.Inodes,
			Used: disk.Inodes - disk.FreeInodes,
		})
	}
	return &csi.NodeGetVolumeStatsResponse{Usage: usage}, nil
}
