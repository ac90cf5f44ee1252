package topics

const policies = `A policy defines what counts as a failure, and when.

  fast       (the default) what seldom passes by itself is a failure as soon as it
             is seen: an image that cannot be pulled, the first failure of an init
             container, more than 2 restarts of a container, out of memory, a
             claim that no volume exists for
  patient    for autoscaling clusters and unreliable registries: transient causes
             are a warning at first, and fail once they have lasted for the grace
             period without progress

Transient causes are: a registry that answers 429 or 5xx, does not answer in time or
refuses the connection; a DNS server that does not answer; a disk of the node that is
full when an image is unpacked; no node as long as one is being added; a volume that is
still attached to another node. Under patient, the crash loop threshold applies to init
containers, too.

Permanent causes fail at once under both policies: an image that does not exist or
that may not be pulled, a malformed name, a program that is missing or built for
another processor, a key that does not exist.

Some causes fail nothing, and stay until a person changes something: no node with room
while no node is being added; a claim, storage class, ConfigMap or Secret that does not
exist; a quota or a rule that refuses the pods of a workload. They are waited for
without end, and after a minute without any change you are told so. With --stuck-after,
the waiting ends once that has lasted for its time: the exit status is 3, and nothing
is deleted, whatever --on-failure says. The time is counted from when the cause began, and
again after each change of the pod's status; at the earliest from the start of the
command. It holds for all commands that wait until a workspace runs, and not for
ignored causes.

Each --ignore-reason names a cause (CrashLoop) or Kubernetes' own reason
(CrashLoopBackOff), in upper or lower case, that is not a failure. ErrImagePull and
ImagePullBackOff are one. A pod that has ended cannot be ignored. When --timeout ends
the waiting, the ignored causes are named. docs/causes.md has all causes, and what
each policy makes of them; ` + "`berth explain`" + ` shows them in the terminal.

In the configuration file, with the defaults:

  policy:
    name: fast                # BERTH_POLICY, --policy
    crashLoopThreshold: 2     # BERTH_CRASH_LOOP_THRESHOLD, --crash-loop-threshold
    pullDelay: 8s             # BERTH_PULL_DELAY, --pull-delay
    gracePeriod: 10m          # BERTH_GRACE_PERIOD, --grace-period
    stuckAfter: 0s            # BERTH_STUCK_AFTER, --stuck-after (0s: never)
    ignoreReasons: []         # BERTH_IGNORE_REASONS=A,B, --ignore-reason

A list that takes precedence replaces the other. With "compat: k8shell" in the file,
crashLoopThreshold is 1 unless something else is given, and a pod that waits for its
volumes for 30 seconds, or is not ready after a minute, is a warning.`
