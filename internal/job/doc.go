// Package job keeps the record of one provisioning: every change of stage and
// every event of Kubernetes, written as it happens, off the critical path, to
// NATS or to a ConfigMap of the cluster.
//
// The record is one document. What happens is folded into it in memory, which
// is the queue; the newest state is written whenever the write before is done.
package job
