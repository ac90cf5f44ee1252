package settings

import "fmt"

// kubeletFile: disk space is not watched and no image is ever collected, since
// other programs may fill the disk: the last percent of a large one is still room
// for every test, and a tainted node would take no pod. Events come without a
// limit, as tests read them. The oom score stays as it is, because not every
// machine lets root lower it.
func (c Cluster) kubeletFile() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://%[1]s
resolvConf: %[2]s
clusterDNS: [%[3]s]
clusterDomain: cluster.local
volumePluginDir: %[4]s
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: %[5]s}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /%[6]s
failSwapOn: false
oomScoreAdj: 0
maxPods: 250
evictionHard:
  memory.available: 50Mi
  nodefs.available: 0%%
  nodefs.inodesFree: 0%%
  imagefs.available: 0%%
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
imageMinimumGCAge: 24h
serializeImagePulls: false
registryPullQPS: 0
eventRecordQPS: 500
eventBurst: 1000
kubeAPIQPS: 200
kubeAPIBurst: 400
`, containerdSocket, c.Conf("resolv.conf"), NodeAddress, volumePlugins, c.key("ca.crt"), c.CgroupRoot()) +
		c.backoff() + c.oldCgroups()
}

// backoff keeps crash loops short. What it takes is on by itself from 1.35 on.
func (c Cluster) backoff() string {
	if !c.Backoff {
		return ""
	}
	return "featureGates: {KubeletCrashLoopBackOffMax: true}\ncrashLoopBackOff: {maxContainerRestartPeriod: 3s}\n"
}

// oldCgroups is for machines with control groups of version 1, which the
// kubelet refuses by default.
func (c Cluster) oldCgroups() string {
	if c.Unified {
		return ""
	}
	return "failCgroupV1: false\n"
}
